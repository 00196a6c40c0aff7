"""Service accounts whose tokens can be taken away and given back while somebody uses them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import users
from tests.cluster.api import Api, ApiError, place
from tests.cluster.paths import Instance
from tests.cluster.pki import private_file


@dataclass(frozen=True)
class Account:
    """A service account and the kubeconfig that reads its token from a file, as a pod's projected token is read."""

    connect: Callable[[], Api]
    namespace: str
    name: str
    kubeconfig: Path
    token_file: Path

    def revoke(self) -> None:
        """Make the token worthless. The API server remembers a token it has just seen for up to 10 s."""
        with self.connect() as api:
            api.delete(place("Secret", self.namespace, self.name))

    def restore(self) -> None:
        """Put a new, good token into the file; also how a token is rotated."""
        with self.connect() as api:
            try:
                api.create({"kind": "Secret", "metadata": {"name": self.name}}, self.namespace)
            except ApiError as error:
                if error.status != 409:
                    raise
            token = self._new_token(api)
        private_file(self.token_file.with_suffix(".new"), token).rename(self.token_file)

    def _new_token(self, api: Api) -> str:
        """Bound to the secret: when that goes, the token is worthless."""
        bound = {"kind": "Secret", "apiVersion": "v1", "name": self.name}
        asked = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {"boundObjectRef": bound}}
        answer = api.request("POST", f"{place('ServiceAccount', self.namespace, self.name)}/token", asked)
        return str(answer["status"]["token"])


def make_account(instance: Instance, connect: Callable[[], Api], namespace: str, name: str, role: str) -> Account:
    """A new account with this role in its namespace."""
    with connect() as api:
        api.create({"kind": "ServiceAccount", "metadata": {"name": name}}, namespace)
        users.bind(api, namespace, role, {"kind": "ServiceAccount", "name": name, "namespace": namespace})
    folder = instance.folder / "accounts" / namespace
    token_file = folder / f"{name}.token"
    credential = {"tokenFile": str(token_file)}
    kubeconfig = users.write_kubeconfig(instance, folder / f"{name}.kubeconfig", name, credential, namespace)
    account = Account(connect, namespace, name, kubeconfig, token_file)
    account.restore()
    return account
