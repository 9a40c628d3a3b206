# A minimal hook in Python: find the tool's name and let the call pass.
import json
import sys

if json.load(sys.stdin)["tool_name"]:
    print("{}")
