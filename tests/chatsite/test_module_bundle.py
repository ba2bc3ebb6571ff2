"""ES modules as one script."""

import posixpath
import re
from graphlib import TopologicalSorter

import pytest

from chatsite.configuration.bundles import SCRIPTS, STYLES, bundle_files, bundles
from chatsite.configuration.module_bundle import BundleError, bundle_modules
from tests.support.source import PROJECT

NAMED = re.compile(
    r"""(?:from|import)\s*["'](\.[^"']+)["']\s*;|import\(["'](\.[^"']+)["']\)"""
)  # as Django looks for it


def bundle(modules, entry="js/main.js"):
    return bundle_modules(entry, modules.__getitem__)


def test_a_module_comes_once_and_after_those_that_it_imports():
    script = bundle(
        {
            "js/main.js": 'import { b } from "./parts/b.js";\nimport { a as first } from "./parts/a.js";\nfirst(b);\n',
            "js/parts/a.js": "export function a() {}\n",
            "js/parts/b.js": 'import {\n  a,\n} from "./a.js";\nexport const b = a();\n',
        }
    )
    assert script == (
        "const $js_parts_a = (() => {\nfunction a() {}\nreturn { a };\n})();\n"
        "const $js_parts_b = (() => {\nconst { a } = $js_parts_a;\nconst b = a();\n"
        "return { b };\n})();\n"
        "const $js_main = (() => {\nconst { b } = $js_parts_b;\nconst { a: first } = $js_parts_a;\n"
        "first(b);\n})();\n"
    )


def test_exports_may_be_listed_and_renamed():
    modules = {
        "js/main.js": 'import { a, c } from "./a.js";\nrun(a, c);\n',
        "js/a.js": "const a = 1;\nconst b = 2;\nexport {\n  a,\n  b as c,\n};\n",
    }
    assert "const b = 2;\nreturn { a, c: b };\n" in bundle(modules)


def test_what_the_first_module_exports_the_script_exports_too():
    modules = {
        "js/main.js": 'import { a } from "./a.js";\nexport function run() {}\nexport { a, run as start };\n',
        "js/a.js": "export const a = 1;\n",
    }
    assert bundle(modules).endswith(
        "return { run, a, start: run };\n})();\nexport const { run, a, start } = $js_main;\n"
    )
    assert "export" not in bundle(modules | {"js/main.js": 'import { a } from "./a.js";\nrun(a);\n'})


def test_comments_are_left_out_and_texts_that_look_like_them_stay():
    source = '/** A module. */\n// Why.\nconst a = "/* no comment */"; // gone\n  /**\n   * Not.\n   */\nrun(a);\n'
    assert 'const a = "/* no comment */";\nrun(a);' in bundle({"js/main.js": source})
    assert "Why" not in bundle({"js/main.js": source})
    source = "const a = '; // no comment'; // another's\nrun(a); // 'b' is 'not'\n"
    assert "const a = '; // no comment';\nrun(a); // 'b' is 'not'\n" in bundle({"js/main.js": source})


def test_types_within_a_line_are_left_out_and_what_they_are_said_of_stays():
    source = "const a =\n  /** @type {A} */ (/** @type {unknown} */ (b));\n/** @type {C | undefined} */\nlet c;\n"
    assert "const a =\n((b));\nlet c;\n" in bundle({"js/main.js": source})
    source = "const go = (/** @type {Event} */ event) => run(event);\nconst stop = (/** @type {A} */ { b }) => b;\n"
    assert "const go = (event) => run(event);\nconst stop = ({ b }) => b;\n" in bundle({"js/main.js": source})


@pytest.mark.parametrize(
    "statement",
    [
        'import * as all from "./a.js";',
        "export let count = 1;",
        "export default run;",
        'export { a } from "./a.js";',
    ],
)
def test_what_can_not_be_joined_is_refused(statement):
    with pytest.raises(BundleError):
        bundle({"js/main.js": statement + "\n", "js/a.js": "export const a = 1;\n"})


def test_modules_that_import_each_other_are_refused():
    modules = {
        "js/main.js": 'import { a } from "./a.js";\n',
        "js/a.js": 'import { main } from "./main.js";\nexport const a = 1;\n',
    }
    with pytest.raises(BundleError, match=r"js/main.js → js/a.js → js/main.js"):
        bundle(modules)


def test_every_style_sheet_of_ours_that_a_bundle_names_is_there_once():
    for sheets in STYLES.values():
        assert len(set(sheets)) == len(sheets)
        assert all((PROJECT / "static" / sheet).is_file() for sheet in sheets)


def test_bundles_are_kept_compressed_beside_themselves():
    files = bundle_files()
    assert set(files) == {name + suffix for name in bundles() for suffix in ("", ".br", ".gz")}
    assert all(path.is_file() for path in files.values())
    assert all(files[f"{name}.gz"].stat().st_size < files[name].stat().st_size / 2 for name in SCRIPTS)


def test_a_text_over_several_lines_keeps_its_blanks():
    assert "const text = `one\n  two`;" in bundle({"js/main.js": "const text = `one\n  two`;\n"})


def test_modules_name_each_other_in_no_circle_also_where_only_types_are_meant():
    """`collectstatic` writes the hashed name of each module into those that name it, also in a comment."""
    root = PROJECT / "static" / "js"
    sources = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in root.rglob("*.js")}
    names = {path: _named_modules(path, source) for path, source in sources.items()}
    graph = TopologicalSorter(names)
    graph.prepare()  # raises CycleError, which names them


def _named_modules(path: str, source: str) -> set[str]:
    named = [first or second for first, second in NAMED.findall(source)]
    return {posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) for name in named}
