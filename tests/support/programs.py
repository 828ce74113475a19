"""Programs of a test's own: shell scripts in a folder that is all there is on PATH."""

from pathlib import Path

from attrs import frozen


@frozen
class Programs:
    """`bin` is the folder; scripts may use shell builtins and absolute paths only."""

    bin: Path

    @classmethod
    def below(cls, folder: Path) -> "Programs":
        """A new, empty folder."""
        (folder / "bin").mkdir()
        return cls(folder / "bin")

    @property
    def env(self) -> dict[str, str]:
        """An environment in which only these are found, `env` for their first lines excepted."""
        return {"PATH": str(self.bin), "HOME": str(self.bin.parent)}

    def add(self, name: str, body: str, *, engine: str = "/bin/sh") -> Path:
        """A script that can be run."""
        file = self.bin / name
        file.write_text(f"#!{engine}\n{body}\n")
        file.chmod(0o755)
        return file

    def says(self, name: str, text: str) -> Path:
        """A program that prints this and ends, and counts its runs in `NAME.runs`."""
        return self.add(name, f"echo x >>'{self.bin.parent}/{name}.runs'; echo '{text}'")

    def runs(self, name: str) -> int:
        """How often it was run."""
        file = self.bin.parent / f"{name}.runs"
        return len(file.read_text().split()) if file.exists() else 0

    def npm(self, package: str, version: str, name: str) -> Path:
        """A node script in a package's folder, linked into `bin` as npm does."""
        folder = self.bin.parent / "node_modules" / package
        (folder / "dist").mkdir(parents=True)
        (folder / "package.json").write_text(f'{{"name": "{package}", "version": "{version}"}}')
        script = folder / "dist" / "index.js"
        script.write_text("#!/usr/bin/env node\nprocess.exit(3)\n")
        script.chmod(0o755)
        (self.bin / name).symlink_to(script)
        return script
