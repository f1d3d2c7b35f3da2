// Threads of a runtime of OpenMP.

package probe

import (
	"strconv"
	"strings"

	"sdm/backend/probe/internal/kernelcall"
)

// inOpenMP adds to a thread that waits in a runtime of OpenMP the thread for which it waits: one that has come from the
// runtime and is outside of it.
func (m *team) inOpenMP(i int) {
	if !m.waitsInOpenMP(i) {
		return
	}
	for number := range len(m.tids) {
		k := m.index(number + 1)
		if k != i && m.cameFromOpenMP(k) && !m.waitsInOpenMP(k) {
			m.waits[i] = kernelcall.Wait{Does: "waits for thread " + strconv.Itoa(number+1) + " of OpenMP"}
			m.waitFor[i] = number + 1
			return
		}
	}
}

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
