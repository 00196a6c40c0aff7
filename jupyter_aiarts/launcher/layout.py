"""Where a pod has what the launcher needs. `root` is empty there; tests put the same tree below a folder."""

import os


class Layout:
    """Paths inside a pod of ours, as the manifest mounts them."""

    def __init__(self, root: str = "") -> None:
        self.root = root
        self.job = root + "/aiarts/job"
        self.plan = self.job + "/plan.json"
        self.attempt = self.job + "/attempt.json"
        self.code = self.job + "/code.zip"
        self.token = root + "/aiarts/secret/token"
        self.run = root + "/aiarts/run"
        self.unpacked = self.run + "/code"
        self.programs = self.run + "/bin"
        self.made_pod_env = self.run + "/pod.env"
        """The file that the init container makes, and that the main one has mounted as `pod_env`."""
        self.pod_env = root + "/pod.env"
        self.termination = root + "/dev/termination-log"

    @property
    def sudo(self) -> bool:
        """Whether there is a `sudo` of ours."""
        return os.path.exists(self.programs + "/sudo")
