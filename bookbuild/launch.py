"""Where a chapter runs: the links from a page to Binder and Colab."""

from bookbuild.address import PLACEHOLDER

BINDER = "https://mybinder.org/v2/gh"
COLAB = "https://colab.research.google.com/github"
BRANCH = "main"


def launch_links(address: str, docname: str) -> dict[str, str]:
    """Links that open a notebook elsewhere, by the name of the service; none while unset.

    Binder shows the notebook itself, in a JupyterLab that knows its directives; Colab knows none
    and gets the plain copy.

    address  the repository: https://github.com/owner/name
    docname  the notebook without its ending, as Sphinx names it: chapters/name
    """
    if address == PLACEHOLDER:
        return {}
    repository = address.removeprefix("https://github.com/")
    return {
        "Binder": f"{BINDER}/{repository}/{BRANCH}?urlpath=lab/tree/{docname}.ipynb",
        "Colab": f"{COLAB}/{repository}/blob/{BRANCH}/{plain_copy(docname)}",
    }


def plain_copy(docname: str) -> str:
    """Path of a notebook's copy in plain Markdown, for Colab and for download."""
    folder, _, name = docname.rpartition("/")
    return f"{folder}/colab/{name}.ipynb"
