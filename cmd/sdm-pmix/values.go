// Values of libpmix to and from sdm's.

//go:build pmix

package main

// #include <stdlib.h>
// #include "bridge.h"
import "C"

import (
	"fmt"
	"unsafe"

	"sdm/launch/pmix"
)

// memory frees C memory at the end of a call.
type memory struct{ free []func() }

// done frees the memory.
func (m *memory) done() {
	for _, f := range m.free {
		f()
	}
}

// text returns a C string that lives until done.
func (m *memory) text(s string) *C.char {
	c := C.CString(s)
	m.free = append(m.free, func() { C.free(unsafe.Pointer(c)) })
	return c
}

// infos returns an array that lives until done.
func (m *memory) infos(list []pmix.Info) (*C.pmix_info_t, C.size_t, error) {
	array, err := newInfos(list)
	n := C.size_t(len(list))
	m.free = append(m.free, func() { C.sdm_free_infos(array, n) })
	return array, n, err
}

// procs returns an array that lives until done.
func (m *memory) procs(list []pmix.Proc) (*C.pmix_proc_t, C.size_t) {
	array := newProcs(list)
	m.free = append(m.free, func() { C.free(unsafe.Pointer(array)) })
	return array, C.size_t(len(list))
}

// newProcs returns an array that the caller frees.
func newProcs(list []pmix.Proc) *C.pmix_proc_t {
	array := C.sdm_procs(C.size_t(len(list)))
	all := unsafe.Slice(array, len(list))
	for i, p := range list {
		name := C.CString(p.Nspace)
		C.sdm_set_proc(&all[i], name, C.uint32_t(p.Rank))
		C.free(unsafe.Pointer(name))
	}
	return array
}

// newInfos returns an array that the caller frees, also after an error.
func newInfos(list []pmix.Info) (*C.pmix_info_t, error) {
	array := C.sdm_infos(C.size_t(len(list)))
	all := unsafe.Slice(array, len(list))
	for i := range list {
		if err := load(&all[i], &list[i]); err != nil {
			return array, err
		}
		if list[i].Required {
			C.sdm_require(&all[i])
		}
	}
	return array, nil
}

// load sets an info. libpmix copies all that it is given.
func load(to *C.pmix_info_t, from *pmix.Info) error {
	var m memory
	defer m.done()
	key := m.text(string(from.Key))
	switch from.Type {
	case pmix.Text:
		C.sdm_load_text(to, key, m.text(from.Text))
	case pmix.ProcT:
		C.sdm_load_proc(to, key, m.text(from.Proc.Nspace), C.uint32_t(from.Proc.Rank))
	case pmix.EnvarT:
		sep := byte(':')
		if from.Envar.Separator != "" {
			sep = from.Envar.Separator[0]
		}
		C.sdm_load_envar(to, key, m.text(from.Envar.Name), m.text(from.Envar.Value), C.char(sep))
	case pmix.Infos:
		array, n, err := m.infos(from.Infos)
		if err != nil {
			return err
		}
		C.sdm_load_array(to, key, array, n)
	case pmix.Procs:
		array, n := m.procs(from.Procs)
		C.sdm_load_procs(to, key, array, n)
	default:
		if C.sdm_load_number(to, key, m.text(string(from.Type)), C.int64_t(from.Number)) != 0 {
			return fmt.Errorf("%s: a value of type %s cannot be sent", from.Key, from.Type)
		}
	}
	return nil
}

// readInfos copies an array of libpmix.
func readInfos(array *C.pmix_info_t, n C.size_t) []pmix.Info {
	if array == nil {
		return nil
	}
	list := make([]pmix.Info, 0, n)
	for i := range unsafe.Slice(array, int(n)) {
		list = append(list, readInfo((*C.pmix_info_t)(unsafe.Add(unsafe.Pointer(array), uintptr(i)*unsafe.Sizeof(*array)))))
	}
	return list
}

// readInfo copies an info of libpmix.
func readInfo(info *C.pmix_info_t) pmix.Info {
	return pmix.Info{Key: pmix.Key(C.GoString(&info.key[0])), Value: readValue(&info.value)}
}

// readValue copies a value of libpmix.
func readValue(v *C.pmix_value_t) pmix.Value {
	to := pmix.Value{Type: pmix.Type(C.GoString(C.sdm_type(v))), Number: int64(C.sdm_number(v)),
		Text: C.GoString(C.sdm_text(v))}
	switch to.Type {
	case pmix.ProcT:
		p := readProc(C.sdm_proc(v))
		to.Proc = &p
	case pmix.EnvarT:
		e := C.sdm_envar(v)
		to.Envar = &pmix.Envar{Name: C.GoString(e.envar), Value: C.GoString(e.value), Separator: string(rune(e.separator))}
	case pmix.Infos, pmix.Procs, pmix.Table, pmix.Texts:
		for i := range C.sdm_length(v) {
			readElement(&to, v, i)
		}
	}
	return to
}

// readElement appends element i of an array.
func readElement(to *pmix.Value, v *C.pmix_value_t, i C.size_t) {
	switch to.Type {
	case pmix.Infos:
		to.Infos = append(to.Infos, readInfo((*C.pmix_info_t)(C.sdm_element(v, i))))
	case pmix.Procs:
		to.Procs = append(to.Procs, readProc((*C.pmix_proc_t)(C.sdm_element(v, i))))
	case pmix.Table:
		to.Table = append(to.Table, readRow((*C.pmix_proc_info_t)(C.sdm_element(v, i))))
	case pmix.Texts:
		to.Texts = append(to.Texts, C.GoString(C.sdm_element_text(v, i)))
	}
}

// readProc copies the name of a process.
func readProc(p *C.pmix_proc_t) pmix.Proc {
	return pmix.Proc{Nspace: C.GoString(&p.nspace[0]), Rank: uint32(p.rank)}
}

// readRow copies a row of a table of processes.
func readRow(r *C.pmix_proc_info_t) pmix.ProcInfo {
	return pmix.ProcInfo{
		Proc: readProc(&r.proc), Host: C.GoString(r.hostname), Executable: C.GoString(r.executable_name),
		PID: int(r.pid), ExitCode: int(r.exit_code), State: pmix.ProcState(r.state),
	}
}
