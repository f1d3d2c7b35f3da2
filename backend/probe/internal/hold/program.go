// The program's own code.

package hold

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sdm/backend/probe/internal/proc"
)

// UnloadProgram releases the memory of the code and the constants of this program. They stay in the kernel's cache of
// files, from which the parts that are used again are mapped again. Mappings that differ from the file, since something
// was written to them (relocations, breakpoints), are left alone.
func UnloadProgram() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for _, m := range cleanMappings(proc.Text("/proc/self/smaps"), exe) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m[0], m[1]-m[0], unix.MADV_DONTNEED)
	}
}

// cleanMappings returns the begins and ends of the mappings of a file that cannot be written and are as in the file.
// text is the content of /proc/PID/smaps (proc(5)).
func cleanMappings(text, path string) (all [][2]uintptr) {
	var from, to uintptr // of the present mapping; 0: it is not one of those
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) >= 5 && !strings.HasSuffix(f[0], ":"):
			from, to = 0, 0
			first, end, _ := strings.Cut(f[0], "-")
			a, err1 := strconv.ParseUint(first, 16, 64)
			b, err2 := strconv.ParseUint(end, 16, 64)
			if err1 == nil && err2 == nil && len(f) == 6 && f[5] == path && !strings.Contains(f[1], "w") {
				from, to = uintptr(a), uintptr(b)
			}
		case from != 0 && slices.Equal(f, []string{"Anonymous:", "0", "kB"}):
			all = append(all, [2]uintptr{from, to})
		}
	}
	return all
}
