"""Who may do what: people with their kubeconfigs, namespaces, and the roles that `docs/rbac` ships."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import yaml

from tests.cluster.api import Api, ApiError, Json, place, until
from tests.cluster.control_plane import kubeconfig_of
from tests.cluster.paths import NODES, Instance
from tests.cluster.pki import new_token, private_file

RBAC = Path(__file__).parents[2] / "docs" / "rbac"
# person → the namespaces where they have the role `aiarts-user`, the first being their default
PEOPLE = {
    "alice": ("team-a", "queued", "restricted", "baseline", "quota"),
    "bob": ("team-b",),
    "viewer": ("team-a",),
    "noproxy": ("team-a",),
    "nobody": (),
}
# parts of the cluster → their name there; all but the nodes may do anything, as usual for tests
PARTS = {"controllers": "system:kube-controller-manager", "scheduler": "system:kube-scheduler",
         "kueue": "system:kueue", "dns": "system:dns", "metrics": "system:metrics-server"}  # fmt: skip
NAMESPACES: dict[str, str | None] = {  # and the Pod Security level each enforces
    "team-a": None, "team-b": None, "queued": None, "restricted": "restricted", "baseline": "baseline", "quota": None,
}  # fmt: skip
QUOTA = {"count/jobs.batch": "2", "pods": "3", "requests.huawei.com/Ascend910": "4", "limits.memory": "4Gi"}


def make_credentials(instance: Instance) -> None:
    """The token file, which the API server reads at its start only, and a kubeconfig for each line of it."""
    lines = [_admit(instance, "admin", "admin", "system:masters")]
    lines += [_admit(instance, person, person, "aiarts:people") for person in PEOPLE]
    lines += [_admit(instance, part, name, "system:masters,aiarts:parts") for part, name in PARTS.items()]
    lines += [_admit(instance, node, f"system:node:{node}", "system:nodes") for node in NODES]
    private_file(instance.folder / "tokens.csv", "\n".join(lines) + "\n")


def write_kubeconfig(instance: Instance, file: Path, name: str, credential: Json, namespace: str) -> Path:
    """`credential` is what a kubeconfig's user holds: a token, a tokenFile, an exec plugin."""
    authority = base64.b64encode((instance.folder / "pki" / "ca.crt").read_bytes()).decode()
    server = {"server": instance.api_url, "certificate-authority-data": authority}
    context = {"cluster": "test", "user": name, "namespace": namespace}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": server}],
        "users": [{"name": name, "user": credential}],
        "contexts": [{"name": "test", "context": context}],
        "current-context": "test",
    }
    return private_file(file, json.dumps(content, indent=1))


def token_of(instance: Instance, user: str) -> str:
    content = json.loads(kubeconfig_of(instance, user).read_text())
    return str(content["users"][0]["user"]["token"])


def make_namespaces(api: Api) -> None:
    """Namespaces with their roles, and who is bound to them."""
    for name, level in NAMESPACES.items():
        make_namespace(api, name, level)
    for person, namespaces in PEOPLE.items():
        for namespace in namespaces:
            bind(api, namespace, "aiarts-noproxy" if person == "noproxy" else "aiarts-user", _person(person))
    api.create({"kind": "ResourceQuota", "metadata": {"name": "small"}, "spec": {"hard": QUOTA}}, "quota")
    api.create(shipped("aiarts-viewer"))
    binding = {"kind": "ClusterRoleBinding", "metadata": {"name": "aiarts-viewer"}, "subjects": [_person("viewer")],
               "roleRef": _reference("ClusterRole", "aiarts-viewer")}  # fmt: skip
    api.create(binding)


def make_namespace(api: Api, name: str, pod_security: str | None = None) -> None:
    """A namespace that has the roles; nobody is bound to them yet."""
    labels = {"pod-security.kubernetes.io/enforce": pod_security} if pod_security else {}
    api.create({"kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    api.create(shipped("aiarts-user"), name)
    api.create(without_proxy(shipped("aiarts-user")), name)


def renew_roles(api: Api) -> None:
    """In a cluster that runs already, the roles as the files say now."""
    for namespace in NAMESPACES:
        for role in (shipped("aiarts-user"), without_proxy(shipped("aiarts-user"))):
            api.patch(place("Role", namespace, role["metadata"]["name"]), {"rules": role["rules"]})
    api.patch(place("ClusterRole", name="aiarts-viewer"), {"rules": shipped("aiarts-viewer")["rules"]})


def bind(api: Api, namespace: str, role: str, subject: Json) -> None:
    """Give a person or a service account a role in a namespace, and wait until it counts; having it is as good."""
    binding = {"kind": "RoleBinding", "metadata": {"name": f"{role}-{subject['name']}"}, "subjects": [subject],
               "roleRef": _reference("Role", role)}  # fmt: skip
    try:
        api.create(binding, namespace)
    except ApiError as error:
        if error.status != 409:
            raise
    until(f"the rights of {subject['name']} in {namespace}", lambda: _counts(api, namespace, role, subject))


def _counts(api: Api, namespace: str, role: str, subject: Json) -> bool:
    """Whether the API server goes by the binding already: it hears of it a moment after it is made."""
    rule = api.get(place("Role", namespace, role))["rules"][0]
    asked = {"namespace": namespace, "group": rule["apiGroups"][0], "resource": rule["resources"][0],
             "verb": rule["verbs"][0]}  # fmt: skip
    person = subject["name"]
    if subject["kind"] == "ServiceAccount":
        person = f"system:serviceaccount:{subject['namespace']}:{person}"
    review = {"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
              "spec": {"user": person, "resourceAttributes": asked}}  # fmt: skip
    answer = api.request("POST", "apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(answer["status"]["allowed"])


def shipped(role: str) -> Json:
    """A role from the very file that admins apply."""
    found = yaml.safe_load((RBAC / f"{role}.yaml").read_text())
    assert isinstance(found, dict)
    return found


def without_proxy(role: Json) -> Json:
    """The role of a cluster whose admin does not let people reach ports of pods."""
    rules = [rule for rule in role["rules"] if rule["resources"] != ["pods/proxy"]]
    assert len(rules) == len(role["rules"]) - 1
    return {**role, "metadata": {"name": "aiarts-noproxy"}, "rules": rules}


def _admit(instance: Instance, user: str, name: str, groups: str) -> str:
    token = new_token()
    namespace = next(iter(PEOPLE.get(user, ())), "default")
    write_kubeconfig(instance, kubeconfig_of(instance, user), name, {"token": token}, namespace)
    return f'{token},{name},{name},"{groups}"'


def _person(name: str) -> Json:
    return {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}


def _reference(kind: str, name: str) -> Json:
    return {"kind": kind, "name": name, "apiGroup": "rbac.authorization.k8s.io"}
