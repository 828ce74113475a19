"""This run of the server, as it marks the processes it starts."""

from pathlib import Path

from attrs import frozen

from hybridmux.proc.mark import Mark, data_hash, new_run


@frozen
class Run:
    """This run of the server: what marks its processes."""

    data: str
    start: str

    @classmethod
    def of(cls, folder: Path) -> "Run":
        """A new run on a data folder."""
        return cls(data_hash(folder), new_run())

    def mark(self, session: str) -> Mark:
        """The mark of one more process family."""
        return Mark(data=self.data, session=session, start=self.start, run=new_run())
