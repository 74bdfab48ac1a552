"""PyTorch's own test files over hotaru: how many of those that PyTorch passes.

| file | |
| --- | --- |
| `files.py` | which files, and how many tests of each |
| `folder.py` | the working folder: tests, harness, packages, results |
| `changes.py` | what is changed in the harness and in test files, and why |
| `worker.py` | a process: loads one file over one of the two, runs its tests |
| `forked.py` | runs tests in forked children, with a limit for each |
| `names.py` | what a file names and hotaru lacks |
| `loading.py` | loads files with such names, `import torch` being hotaru |
| `versions.py` | what test files of 2.6 expect and PyTorch 2.13 has no more |
| `known.py` | the names that are promised to pass |
| `counts.py` | tables and groups of what was found |
| `main.py` | all of it: `run.py --suite tests` |

Where one name is missing the tests that use it fail, not the file: while a file
is loaded, names that hotaru lacks are placeholders, which raise when a test
uses them. Afterwards hotaru answers for itself.
"""
