#!/usr/bin/env python3
# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Writes ../src/proto/ again: the messages and the service of P4Runtime as Rust.

The interface comes from the descriptors of the Python package p4runtime (Apache-2.0), so the tree has no .proto file
and cargo needs no Python. Run it when the version below changes; the package's modules need protobuf in Python:

    python3 -m venv p4 && p4/bin/pip install p4runtime==1.6.0
    PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python p4/bin/python generate.py
"""

import subprocess
import tempfile
from pathlib import Path

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import FileDescriptor
from p4.v1 import p4runtime_pb2

HERE = Path(__file__).resolve().parent


def add(file: FileDescriptor, to: dict[str, descriptor_pb2.FileDescriptorProto]) -> None:
    """Adds a file after those that it imports."""
    if file.name not in to:
        for imported in file.dependencies:
            add(imported, to)
        to[file.name] = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(to[file.name])


def main() -> None:
    files: dict[str, descriptor_pb2.FileDescriptorProto] = {}
    add(p4runtime_pb2.DESCRIPTOR, files)
    descriptors = descriptor_pb2.FileDescriptorSet(file=files.values())
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(descriptors.SerializeToString())
        file.flush()
        command = ["cargo", "run", "--quiet", "--locked", "--", file.name, str(HERE.parent / "src/proto")]
        subprocess.run(command, cwd=HERE, check=True)


if __name__ == "__main__":
    main()
