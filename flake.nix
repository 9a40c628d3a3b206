{
  description = "One native binary behind every Claude Code hook";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      # The version is only in Cargo.toml.
      workspace = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "context-graph";
          inherit (workspace) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          buildAndTestSubdir = "crates/context-graph-cli";
          # Nixpkgs has the static C library in a separate output.
          buildInputs = pkgs.lib.optional pkgs.stdenv.hostPlatform.isLinux pkgs.glibc.static;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # The tests need a home, a git and time; they run in CI.
          doCheck = false;
          postInstall = ''
            $out/bin/context-graph man $out/share/man
            installShellCompletion --cmd context-graph \
              --bash <($out/bin/context-graph completions bash) \
              --zsh <($out/bin/context-graph completions zsh) \
              --fish <($out/bin/context-graph completions fish)
          '';
          meta = {
            description = "One native binary behind every Claude Code hook";
            homepage = workspace.repository;
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "context-graph";
          };
        };
      });
    };
}
