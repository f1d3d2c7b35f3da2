// Command lines of PALS that start something on nodes.

package pals

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sdm/protocol"
)

// Command returns the command that runs another one on each node of an application. It returns at
// once; the output of the other one is lost. ReadHelper reads what palscmd writes to standard error.
func Command(node string, id APID, command []string) []string {
	return append([]string{"palscmd", "-n", node, string(id)}, command...)
}

// ReadHelper returns the name under which palstat lists what palscmd has started.
func ReadHelper(text string) (string, error) {
	m := helper.FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("palscmd does not tell what it has started: %q", protocol.Clip(strings.TrimSpace(text)))
	}
	return m[1], nil
}

// copyTo returns the command that copies a file to the hosts in hostFile, under a name.
func copyTo(hostFile, file, name string, id APID) []string {
	return []string{"palscp", "-l", hostFile, "-f", file, "-d", name, string(id)}
}

// move returns the command that moves a file out of the directory in which palscp leaves it, which
// is mounted noexec.
func move(name string, id APID, to string) []string {
	from := filepath.Join("/var/run/palsd", string(id), "files", name)
	return []string{"/bin/sh", "-c", `mv "$1" "$2" && chmod 700 "$2"`, "sh", from, to}
}

// hostList returns the text of a file of hosts. The first node of the job comes first, because
// palscp skips it silently anywhere else (seen by cti, PE-49724).
func hostList(first string, hosts []string) string {
	hosts = slices.Clone(hosts)
	if i := slices.IndexFunc(hosts, func(h string) bool { return protocol.SameHost(h, first) }); i > 0 {
		h := hosts[i]
		hosts = slices.Insert(slices.Delete(hosts, i, i+1), 0, h)
	}
	return strings.Join(hosts, "\n") + "\n"
}
