// Threads of a runtime of OpenMP.

package sampler

import (
	"strings"

	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/unwind"
)

// isOpenMP reports whether the code at an address is of a runtime of OpenMP.
func (m *team) isOpenMP(pc uint64) bool {
	i := m.module(pc)
	if i < 0 {
		return false
	}
	name := m.modules[i].Name()
	return strings.HasPrefix(name, "libgomp") || strings.HasPrefix(name, "libomp") || strings.HasPrefix(name, "libiomp")
}

// waitsInOpenMP reports whether the innermost code of a thread that is not of the C library is of OpenMP.
func (m *team) waitsInOpenMP(i int) bool {
	for _, f := range m.shot.Threads[i].Stack.Frames {
		if !m.isC(f) {
			return m.isOpenMP(f.Lookup())
		}
	}
	return false
}

// cameFromOpenMP reports whether a runtime of OpenMP has called some function on the stack of a thread.
func (m *team) cameFromOpenMP(i int) bool {
	for _, f := range m.shot.Threads[i].Stack.Frames {
		if m.isOpenMP(f.Lookup()) {
			return true
		}
	}
	return false
}

// isC reports whether a frame is of the C library.
func (m *team) isC(f unwind.Frame) bool {
	k := m.module(f.Lookup())
	return k >= 0 && kernelcall.IsC(" from "+m.modules[k].Name())
}
