"""What every package says of itself, from Cargo.toml, and the platforms that there are packages for."""
import os
import tomllib

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

# Rust's name of a platform: how npm and Debian call it, and what Homebrew asks for. A Linux binary is static, so one
# stands for every C library.
PLATFORMS = {
    "x86_64-unknown-linux-gnu": {"npm": ("linux", "x64"), "deb": "amd64", "brew": ("on_linux", "on_intel")},
    "aarch64-unknown-linux-gnu": {"npm": ("linux", "arm64"), "deb": "arm64", "brew": ("on_linux", "on_arm")},
    "x86_64-apple-darwin": {"npm": ("darwin", "x64"), "brew": ("on_macos", "on_intel")},
    "aarch64-apple-darwin": {"npm": ("darwin", "arm64"), "brew": ("on_macos", "on_arm")},
}


def _toml(path):
    with open(os.path.join(ROOT, path), "rb") as file:
        return tomllib.load(file)


_workspace = _toml("Cargo.toml")["workspace"]["package"]
VERSION = _workspace["version"]
LICENCE = _workspace["license"]
REPOSITORY = _workspace["repository"]
DESCRIPTION = _toml("crates/context-graph-cli/Cargo.toml")["package"]["description"]
KEYWORDS = _workspace["keywords"]
