//! The hook in the README is the one that is compiled.

#[test]
fn the_readme_shows_the_example_as_it_is_compiled() {
    let (readme, example) = (include_str!("../README.md"), include_str!("../examples/no_force_push.rs"));
    assert!(readme.contains(example), "README.md and examples/no_force_push.rs differ");
}
