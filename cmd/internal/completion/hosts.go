// Names of hosts, from the files of ssh and of this host.

package completion

import (
	"slices"
	"strings"
)

// maxHosts bounds the names that are offered.
const maxHosts = 2000

// Hosts returns the names of hosts in the texts of ssh's known_hosts and config and of /etc/hosts, sorted. Names that
// are hashed, patterns and addresses are left out.
func Hosts(known, config, hosts string) []string {
	var names []string
	for line := range strings.Lines(known) {
		fields := strings.Fields(line)
		if len(fields) > 0 && strings.HasPrefix(fields[0], "@") { // a marker (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT)
			fields = fields[1:]
		}
		if len(fields) > 0 {
			for name := range strings.SplitSeq(fields[0], ",") {
				name, _, _ = strings.Cut(strings.TrimPrefix(name, "["), "]")
				names = append(names, name)
			}
		}
	}
	for line := range strings.Lines(config) {
		fields := strings.Fields(strings.Replace(line, "=", " ", 1))
		if len(fields) > 1 && strings.EqualFold(fields[0], "Host") {
			names = append(names, fields[1:]...)
		}
	}
	for line := range strings.Lines(hosts) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 1 {
			names = append(names, fields[1:]...)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !isHostName(name) })
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxHosts)]
}

// isHostName reports whether a word is a name of a host other than this one, and no address.
func isHostName(word string) bool {
	letters := false
	for _, r := range word {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			letters = true
		case r >= '0' && r <= '9', r == '-', r == '.', r == '_':
		default:
			return false
		}
	}
	return letters && !strings.HasPrefix(word, "-") && word != "localhost" && !strings.HasPrefix(word, "ip6-")
}
