// Fails to compile on other platforms than those that sdm supports.

//go:build !linux || !(amd64 || arm64)

package startup

// The undefined name is the compiler's error message on other platforms.
var _ = sdm_runs_on_Linux_on_amd64_and_arm64_only
