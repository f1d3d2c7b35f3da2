// Checks that the processor is one that sdm supports.

package doctor

import (
	"context"
	"runtime"

	"golang.org/x/sys/unix"
)

// machines maps the architectures that sdm supports to the kernel's names for them.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// platform checks that the processor is of the architecture of this program. If it is emulated,
// processes cannot be traced.
func (m Machine) platform(context.Context) []Finding {
	var name unix.Utsname
	unix.Uname(&name) // fails for bad addresses only
	return platformOf(unix.ByteSliceToString(name.Machine[:]), unix.ByteSliceToString(name.Release[:]))
}

// platformOf is platform for a machine and a release as uname(2) gives them.
func platformOf(machine, release string) []Finding {
	f := Finding{Check: "platform", Grade: Good, Found: "Linux " + release + " on " + runtime.GOARCH}
	if machine != machines[runtime.GOARCH] {
		f.Grade = Bad
		f.Found = "this sdm is made for " + runtime.GOARCH + ", the kernel is one of " + machine
		f.Hint = "build sdm for this processor: it runs on Linux on amd64 and arm64"
	}
	return []Finding{f}
}
