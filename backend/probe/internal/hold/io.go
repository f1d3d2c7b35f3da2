// Bytes that a process has read and written.

package hold

import (
	"strconv"
	"strings"

	"sdm/backend/probe/internal/proc"
)

// Transfer is the number of bytes that a process has read and written since it was started (proc(5), io): by
// read(2), write(2) and the like, from and to anything, and from and to disks. Messages that are sent by
// send(2) or through shared memory are not counted. The zero value is unknown.
type Transfer struct{ Read, Written, FromDisk, ToDisk uint64 }

// TransferOf reads the numbers of a process. They are zero if it has ended or is not ours.
func TransferOf(pid int) (t Transfer) {
	for line := range strings.Lines(proc.Text("/proc/%d/io", pid)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "rchar":
			t.Read = n
		case "wchar":
			t.Written = n
		case "read_bytes":
			t.FromDisk = n
		case "write_bytes":
			t.ToDisk = n
		}
	}
	return t
}

// Since returns the number of bytes that were read and written since an earlier time.
func (t Transfer) Since(before Transfer) uint64 {
	sum := uint64(0)
	for _, x := range [][2]uint64{{before.Read, t.Read}, {before.Written, t.Written}, {before.FromDisk, t.FromDisk}, {before.ToDisk, t.ToDisk}} {
		if x[1] > x[0] {
			sum += x[1] - x[0]
		}
	}
	return sum
}
