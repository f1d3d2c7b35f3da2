// Checks of Red Hat's systems: toolsets, environment modules, SELinux.

package doctor

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
)

// Differences of Red Hat Enterprise Linux, its rebuilds (Rocky, Alma) and Fedora: newer gdbs are in
// toolsets, MPI is in environment modules, and SELinux may forbid debugging.

// glob finds files below Root, and returns their paths relative to Root.
func (m Machine) glob(patterns ...string) (found []string) {
	for _, pattern := range patterns {
		files, _ := filepath.Glob(filepath.Join("/", m.Root, pattern)) // the patterns are valid
		for _, file := range files {
			found = append(found, filepath.Join("/", strings.TrimPrefix(file, m.Root)))
		}
	}
	return found
}

// toolset is a gdb of a software collection.
type toolset struct {
	path, name   string
	major, minor int
}

// toolsetGDBs matches the gdbs of toolsets: gcc-toolset-14-gdb and the like.
const toolsetGDBs = "/opt/rh/*toolset-*/root/usr/bin/gdb"

// newestToolset finds the newest gdb of a toolset that sdm can use.
func (m Machine) newestToolset(ctx context.Context) (toolset, bool) {
	var all []toolset
	for _, path := range m.glob(toolsetGDBs) {
		text, err := m.ask(ctx, filepath.Join("/", m.Root, path), "-nx", "--version")
		major, minor, ok := gdbtext.Version(text)
		if err == nil && ok && major >= oldestGDB {
			all = append(all, toolset{path, strings.Split(path, "/")[3], major, minor})
		}
	}
	if len(all) == 0 {
		return toolset{}, false
	}
	return slices.MaxFunc(all, func(a, b toolset) int {
		return cmp.Or(cmp.Compare(a.major, b.major), cmp.Compare(a.minor, b.minor))
	}), true
}

// orToolset adds a hint to a finding about a gdb that is missing or too old: the gdb of a toolset,
// if there is a newer one. major is the version of the gdb that was found; 0: none was.
func (m Machine) orToolset(ctx context.Context, f Finding, major int) Finding {
	if f.Grade == Good || m.GDB != "" {
		return f
	}
	switch t, found := m.newestToolset(ctx); {
	case found && t.major > major:
		f.Hint = fmt.Sprintf("%s has gdb %d.%d: --gdb %s (on the nodes, too)", t.name, t.major, t.minor, t.path)
	case major == 0 && m.isRedHat():
		f.Hint = "dnf install gdb, on the nodes, too; or give --gdb PATH"
	case m.isRedHat():
		f.Hint += "; dnf install gcc-toolset-14-gdb brings one to /opt/rh/gcc-toolset-14/root/usr/bin/gdb"
	}
	return f
}

// isRedHat reports whether this is Red Hat Enterprise Linux, a rebuild, or Fedora (os-release(5)).
func (m Machine) isRedHat() bool {
	for line := range strings.Lines(m.read("/etc/os-release")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = strings.Trim(value, `"'`)
		if (name == "ID" || name == "ID_LIKE") && slices.ContainsFunc(strings.Fields(value),
			func(id string) bool { return id == "rhel" || id == "fedora" }) {
			return true
		}
	}
	return false
}

// modules finds MPIs that are installed but not in PATH, because their packages rely on environment
// modules.
func (m Machine) modules() []Finding {
	var all []Finding
	for _, path := range m.glob("/usr/lib64/openmpi*/bin/mpirun", "/usr/lib64/mpich*/bin/mpiexec") {
		dir := filepath.Dir(path)
		if slices.Contains(filepath.SplitList(m.lookup("PATH")), dir) {
			continue
		}
		name := filepath.Base(filepath.Dir(dir))
		hint := "PATH=" + dir + ":$PATH"
		if files := m.glob("/usr/share/modulefiles/mpi/"+name+"-*", "/etc/modulefiles/mpi/"+name+"-*"); len(files) > 0 {
			hint = "module load mpi/" + filepath.Base(files[0])
		}
		all = append(all, Finding{Check: name, Grade: Absent, Found: path + " is installed, but not on the PATH", Hint: hint})
	}
	return all
}

// selinux checks whether the policy of SELinux forbids debugging.
func (m Machine) selinux(context.Context) []Finding {
	enforcing := m.read("/sys/fs/selinux/enforce")
	if enforcing == "" {
		return nil
	}
	f := Finding{Check: "SELinux", Grade: Good, Found: "enforcing; debugging is permitted (deny_ptrace is off)"}
	// The file contains the current and the pending value.
	now, _, _ := strings.Cut(m.read("/sys/fs/selinux/booleans/deny_ptrace"), " ")
	denied, _ := strconv.ParseBool(now)
	switch {
	case enforcing == "0":
		f.Found = "permissive"
	case denied:
		f.Grade, f.Found = Bad, "enforcing; it forbids processes to debug others (deny_ptrace is on)"
		f.Hint = "ask the administrator: setsebool deny_ptrace off (-P: for good), on the nodes"
	}
	return []Finding{f}
}
