// Functions that libpmix calls.

//go:build pmix

package main

// #include "bridge.h"
import "C"

import (
	"runtime/cgo"

	"sdm/launch/pmix"
)

// sdmEvent passes an event on. A thread of libpmix calls it.
//
//export sdmEvent
func sdmEvent(status C.pmix_status_t, source *C.pmix_proc_t, info *C.pmix_info_t, n C.size_t) {
	m := pmix.Message{Event: pmix.Code(status), Text: textOf(status), Info: readInfos(info, n)}
	if source != nil {
		p := readProc(source)
		m.Source = &p
	}
	current.Load().out.write(m)
}

// sdmPushed reports that a push is done; see push. A thread of libpmix calls it, once for each push.
//
//export sdmPushed
func sdmPushed(status C.pmix_status_t, waiter C.uintptr_t) {
	h := cgo.Handle(waiter)
	h.Value().(chan C.pmix_status_t) <- status
	h.Delete()
}
