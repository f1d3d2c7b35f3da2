//go:build !linux || !(amd64 || arm64)

package startup

// There is no such name: what a compiler says elsewhere is why it cannot be built.
var _ = sdm_runs_on_Linux_on_amd64_and_arm64_only
