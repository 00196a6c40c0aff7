"""CoreDNS: `<pod-hostname>.<service>.<namespace>.svc.cluster.local`, and no name of the world outside."""

from __future__ import annotations

from tests.cluster.build import program
from tests.cluster.cells import Cell
from tests.cluster.control_plane import kubeconfig_of
from tests.cluster.paths import Instance


def start_dns(instance: Instance, cell: Cell) -> None:
    """Pods find it by the kubelet's `clusterDNS`."""
    corefile = cell.folder / "Corefile"
    corefile.write_text(
        f""".:53 {{
    bind {instance.address(1)}
    errors
    kubernetes cluster.local {{
        kubeconfig {kubeconfig_of(instance, "dns")}
        ttl 0
    }}
}}
"""
    )
    cell.spawn("coredns", [str(program("coredns")), "-conf", str(corefile)])
