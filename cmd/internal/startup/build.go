// Package startup is what every program of sdm does first: it reads its flags'
// twins in the environment, opens its log, knows its version, and takes no more
// processors than it needs.
package startup

import "runtime/debug"

// version is set by the Makefile (-ldflags -X); a plain go build leaves it empty.
var version string

// Build names this build, for people who compare hosts.
func Build() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += " " + s.Value
		}
	}
	return text
}
