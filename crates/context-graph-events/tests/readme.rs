//! Checks the README: the hook that it shows compiles, and its list of dependencies is complete.

#[test]
fn the_readme_shows_the_example_as_it_is_compiled() {
    let (readme, example) = (include_str!("../README.md"), include_str!("../examples/no_force_push.rs"));
    assert!(readme.contains(example), "README.md and examples/no_force_push.rs differ");
}

#[test]
fn the_readme_names_every_dependency() {
    let (readme, manifest) = (include_str!("../README.md"), include_str!("../Cargo.toml"));
    let dependencies = manifest.split("[dependencies]\n").nth(1).unwrap_or_default();
    let dependencies = dependencies.lines().take_while(|line| !line.is_empty());
    let names: Vec<&str> = dependencies.filter_map(|line| line.split(' ').next()).collect();
    assert!(!names.is_empty());
    let line = readme.lines().find(|line| line.contains("It depends on")).unwrap_or_default();
    let said: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
    assert_eq!(names.len(), said.len(), "{said:?}");
    assert!(names.iter().all(|name| said.contains(name)), "{names:?} {said:?}");
}
