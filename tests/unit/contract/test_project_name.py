"""What a folder is called, told from files as git makes them."""

import subprocess
from pathlib import Path

import pytest

from worker.contract.project_name import NOWHERE, ProjectName, is_one_of, parents_of, project_of, together


def git(folder: Path, *words: str) -> None:
    told = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(("git", *told, *words), cwd=folder, check=True, capture_output=True)


def named(folder: Path) -> ProjectName:
    found = project_of(str(folder), temp_dirs=())
    assert found is not None
    return found


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def test_a_repository_names_all_its_folders(shop: Path) -> None:
    (shop / "src" / "deep").mkdir(parents=True)
    for folder in (shop, shop / "src", shop / "src" / "deep", shop / "gone" / "long ago"):
        assert named(folder) == ProjectName("shop", (), str(shop))


def test_a_link_to_a_repository_is_the_repository(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(shop)
    assert named(tmp_path / "link").name == "shop"


def test_a_worktree_stands_under_its_repository(shop: Path, tmp_path: Path) -> None:
    """R182."""
    git(shop, "worktree", "add", "-q", "../wt-x", "-b", "x")
    found = named(tmp_path / "wt-x")
    assert found == ProjectName("shop/wt-x", ("shop",), str(tmp_path / "wt-x"))
    assert found.names == ("shop/wt-x", "shop")


@pytest.mark.parametrize(("folder", "name"), [("store.git", "store"), ("store/.bare", "store")])
def test_a_worktree_of_a_repository_without_one_of_its_own(tmp_path: Path, folder: str, name: str) -> None:
    (tmp_path / "shop").mkdir()
    git(tmp_path / "shop", "init", "-q")
    git(tmp_path / "shop", "commit", "-q", "--allow-empty", "-m", "first")
    git(tmp_path, "clone", "-q", "--bare", "shop", folder)
    git(tmp_path / folder, "worktree", "add", "-q", str(tmp_path / "wt"), "-b", "x")
    assert named(tmp_path / "wt").names == (f"{name}/wt", name)


def test_a_submodule_shares_what_its_parent_knows(shop: Path, tmp_path: Path) -> None:
    """R184."""
    (tmp_path / "part").mkdir()
    git(tmp_path / "part", "init", "-q")
    git(tmp_path / "part", "commit", "-q", "--allow-empty", "-m", "first")
    git(shop, "submodule", "add", "-q", str(tmp_path / "part"), "libs/sub")
    git(shop, "commit", "-q", "-m", "part")
    assert named(shop / "libs" / "sub").names == ("sub", "shop")
    git(shop, "worktree", "add", "-q", "../wt-x", "-b", "x")
    git(tmp_path / "wt-x", "submodule", "update", "-q", "--init")
    assert named(tmp_path / "wt-x" / "libs" / "sub").names == ("sub", "shop/wt-x", "shop")


def test_without_a_repository_the_folder_names_itself(tmp_path: Path) -> None:
    assert named(tmp_path / "notes") == ProjectName("notes")
    for cwd, name in (("/", "unknown-project"), ("", "unknown-project"), ("C:\\", "drive-C"), ("/h/shop/", "shop")):
        found = project_of(cwd, temp_dirs=())
        assert found is not None and found.name == name
    windows = project_of("C:\\Users\\ann\\shop", temp_dirs=())
    assert windows is not None and windows.name == "shop"


@pytest.mark.parametrize(
    "cwd",
    ["  ", ".", "..", "shop", "../shop", "~/shop", "/", "//", "/.", "/..", "/a/\0b", "/" + "a" * 5_000, "\n", "/\n"],
)
def test_what_is_no_whole_path_is_filed_under_no_name_of_its_own(cwd: str) -> None:
    assert project_of(cwd, temp_dirs=()) == ProjectName(NOWHERE)


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/ann/shop/.", "shop"), ("/home/ann/shop/../mall", "mall"), ("/home/ann/shop//", "shop"),
        ("/home/ann/a\nb", "a b"), ("/home/ann/x\u202egnp.sh", "x gnp.sh"), ("/home/ann/\x1b[31mred", "[31mred"),
        ("/home/ann/日本 語", "日本 語"), ("C:\\Users\\ann\\shop\\", "shop"), ("\\\\host\\share\\shop", "shop"),
    ],
)  # fmt: skip
def test_a_path_is_named_after_its_folder_whatever_way_it_is_written(cwd: str, name: str) -> None:
    assert project_of(cwd, temp_dirs=()) == ProjectName(name)


def test_a_file_stands_for_its_folder(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for folder in (tmp_path / "notes", shop):
        (folder / "page.txt").write_text("x")
        assert named(folder / "page.txt").name == folder.name
    assert project_of(str(tmp_path / "notes" / "page.txt"), temp_dirs=(str(tmp_path),)) is None


def test_a_folder_for_temporary_things_is_no_project_unless_it_is_a_repository(shop: Path, tmp_path: Path) -> None:
    """R186."""
    for cwd in ("/tmp", "/tmp/xyz/deep", "/var/folders/ab/T/xyz", "/private/tmp/x"):
        assert project_of(cwd) is None
    assert project_of(str(tmp_path / "notes"), temp_dirs=(str(tmp_path),)) is None
    assert project_of("/tmpfiles/x") == ProjectName("x")
    found = project_of(str(shop), temp_dirs=(str(tmp_path),))
    assert found is not None and found.name == "shop"


def test_what_git_left_broken_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    for said in (b"", b"gitdir: ", b"gitdir: /nowhere/.git/modules/x", b"\xff\xfe", b"nothing of the kind"):
        (tmp_path / ".git").write_bytes(said)
        assert named(tmp_path).name == tmp_path.name
    assert parents_of("/a/b") == ["/a/b", "/a", "/"]
    assert named(tmp_path / "\0x").name == NOWHERE


KNOWN = {"b": "a", "c": "a", "y": "x"}


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("a", ("a", "b", "c")),
        ("b", ("b", "a", "c")),
        ("x", ("x", "y")),
        ("z", ("z",)),
        ("a/fix", ("a/fix",)),
        ("b/*", ("b/*", "a/*", "c/*")),
        ("/*", ("/*",)),
    ],
)
def test_all_names_of_a_project_its_own_first(asked: str, names: tuple[str, ...]) -> None:
    assert together(KNOWN, asked) == names
    assert together({}, asked) == (asked,)


@pytest.mark.parametrize(
    ("project", "fits"), [("a", True), ("b", True), ("b/x", True), ("a/x", False), ("bc", False), ("", False)]
)
def test_a_project_among_those_that_are_asked_for(project: str, fits: bool) -> None:
    assert is_one_of(project, ("a", "b/*")) is fits
