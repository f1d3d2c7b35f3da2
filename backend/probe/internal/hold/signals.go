// Signals that this process need not get.

package hold

import (
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// action is the structure of rt_sigaction(2) of the kernel on x86-64 and arm64.
type action struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

const noChildStop = 1 // SA_NOCLDSTOP

// withoutStops has the kernel send no SIGCHLD to this process when threads that it traces, or its children, stop. To
// handle one takes longer than to read the registers of a thread. The end of a child is still signalled.
var withoutStops = sync.OnceFunc(func() {
	var a action
	set := func(next, old *action) syscall.Errno {
		_, _, err := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(unsafe.Pointer(next)), uintptr(unsafe.Pointer(old)), unsafe.Sizeof(a.mask), 0, 0)
		return err
	}
	if set(nil, &a) == 0 {
		a.flags |= noChildStop
		set(&a, nil)
	}
})
