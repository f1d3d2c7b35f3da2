// Calls of libpmix, one for each request.

//go:build pmix

package main

// #cgo pkg-config: pmix
// #include <stdlib.h>
// #include "bridge.h"
import "C"

import (
	"maps"
	"runtime/cgo"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"sdm/launch/pmix"
)

// process is this process as a tool of a PMIx server. libpmix permits one tool for each process.
type process struct {
	out *writer

	mu        sync.Mutex
	me        C.pmix_proc_t // our name at the server
	connected bool
	handlers  []C.pmix_status_t // numbers of the event handlers
	jobs      map[string]bool   // by namespace, jobs whose ranks may be held; true: they are killed if sdm is
}

// current is the process that gets events. A callback of libpmix cannot get it as an argument.
var current atomic.Pointer[process]

// version returns the version text of the libpmix that was loaded.
func version() string { return C.GoString(C.PMIx_Get_version()) }

// textOf returns libpmix's name of a status.
func textOf(c C.pmix_status_t) string { return C.GoString(C.PMIx_Error_string(c)) }

// answer makes the call that a request asks for and returns the reply.
func (p *process) answer(r pmix.Request) pmix.Message {
	var m memory
	defer m.done()
	reply := pmix.Message{ID: r.ID}
	info, n, err := m.infos(r.Info)
	if err != nil {
		reply.Status, reply.Text = pmix.ErrBadParam, err.Error()
		return reply
	}
	targets, nt := m.procs(r.Targets)
	var rc C.pmix_status_t
	switch r.Call {
	case pmix.CallConnect:
		rc = p.connect(info, n, &reply)
	case pmix.CallFollow:
		if rc = C.sdm_follow(m.text(r.Proc.Nspace), C.uint32_t(r.Proc.Rank), info, n); rc == 0 {
			p.mu.Lock()
			rc = p.register()
			p.mu.Unlock()
		}
	case pmix.CallQuery:
		var result *C.pmix_info_t
		var count C.size_t
		rc = C.sdm_query(m.text(string(r.Key)), info, n, &result, &count)
		reply.Info = take(result, count)
	case pmix.CallGet:
		var result *C.pmix_info_t
		rc = C.sdm_get(m.text(r.Proc.Nspace), C.uint32_t(r.Proc.Rank), m.text(string(r.Key)), info, n, &result)
		reply.Info = take(result, 1)
	case pmix.CallSpawn:
		rc, err = p.spawn(&r, info, n, &reply)
	case pmix.CallNotify:
		rc, err = p.notify(&r)
	case pmix.CallPush:
		rc = push(&r)
	case pmix.CallControl:
		var result *C.pmix_info_t
		var count C.size_t
		rc = C.PMIx_Job_control(targets, nt, info, n, &result, &count)
		reply.Info = take(result, count)
	case pmix.CallLog:
		rc = C.PMIx_Log(info, n, nil, 0)
	case pmix.CallKeep:
		for _, t := range r.Targets {
			p.keep(t.Nspace, r.End)
		}
	case pmix.CallFinalize:
		rc = p.finalize()
	}
	reply.Status, reply.Text = pmix.Code(rc), textOf(rc)
	if err != nil {
		reply.Status, reply.Text = pmix.ErrBadParam, err.Error()
	}
	return reply
}

// take copies a result of libpmix and frees it.
func take(result *C.pmix_info_t, n C.size_t) []pmix.Info {
	defer C.sdm_free_infos(result, n)
	return readInfos(result, n)
}

// self returns our name at the server.
func (p *process) self() C.pmix_proc_t {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.me
}

// connect makes this process a tool of the server that info names, and registers for events.
func (p *process) connect(info *C.pmix_info_t, n C.size_t, reply *pmix.Message) C.pmix_status_t {
	p.mu.Lock()
	defer p.mu.Unlock()
	me := C.sdm_procs(1)
	defer C.free(unsafe.Pointer(me))
	if rc := C.PMIx_tool_init(me, info, n); rc != 0 {
		return rc
	}
	p.me, p.connected = *me, true
	proc := readProc(me)
	reply.Proc = &proc
	return p.register()
}

// register asks the server for events: with one handler for those that sdm knows, and with one for
// all others. The caller holds mu.
func (p *process) register() C.pmix_status_t {
	codes := make([]C.pmix_status_t, len(pmix.Events))
	for i, c := range pmix.Events {
		codes[i] = C.pmix_status_t(c)
	}
	for _, n := range []int{len(codes), 0} {
		h := C.sdm_register(&codes[0], C.size_t(n))
		if h < 0 {
			return h
		}
		p.handlers = append(p.handlers, h)
	}
	return 0
}

// spawn starts a job; the reply names it.
func (p *process) spawn(r *pmix.Request, info *C.pmix_info_t, n C.size_t,
	reply *pmix.Message) (C.pmix_status_t, error) {
	count := C.size_t(len(r.Apps))
	apps := C.sdm_apps(count)
	defer C.sdm_free_apps(apps, count)
	for i := range r.Apps {
		app := (*C.pmix_app_t)(unsafe.Add(unsafe.Pointer(apps), uintptr(i)*unsafe.Sizeof(*apps)))
		if err := fill(app, &r.Apps[i]); err != nil {
			return 0, err
		}
	}
	job := C.sdm_procs(1)
	defer C.free(unsafe.Pointer(job))
	rc := C.PMIx_Spawn(info, n, apps, count, &job.nspace[0])
	reply.Proc = &pmix.Proc{Nspace: C.GoString(&job.nspace[0]), Rank: pmix.Wildcard}
	if rc == 0 {
		p.spawned(reply.Proc.Nspace, r.Info)
	}
	return rc, nil
}

// notify sends an event to its targets, or to all who have asked for it.
func (p *process) notify(r *pmix.Request) (C.pmix_status_t, error) {
	list := append(slices.Clone(r.Info), pmix.True(pmix.NonDefault))
	if len(r.Targets) > 0 {
		list = append(list, pmix.Info{Key: pmix.CustomRange, Value: pmix.Value{Type: pmix.Procs, Procs: r.Targets}})
	}
	var m memory
	defer m.done()
	info, n, err := m.infos(list)
	if err != nil {
		return 0, err
	}
	me := p.self()
	return C.sdm_notify(C.pmix_status_t(r.Event), &me, len(r.Targets) > 0, info, n), nil
}

// spawned records a job for abandon. If the job consists of daemons, the ranks of the other jobs are
// under their control, and abandon must not kill them.
func (p *process) spawned(nspace string, info []pmix.Info) {
	if _, is := pmix.Find(info, pmix.DebuggerDaemons); !is {
		p.keep(nspace, true)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for job := range p.jobs {
		p.jobs[job] = false
	}
}

// keep records a job for abandon: end says whether abandon kills its ranks or releases them.
func (p *process) keep(nspace string, end bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.jobs == nil {
		p.jobs = map[string]bool{}
	}
	p.jobs[nspace] = end
}

// abandon does for the jobs what sdm cannot do any more because it was killed. Held ranks that have
// daemons are released, so that they can go on. Held ranks without daemons would wait for ever and
// are killed. For a job that has ended both do nothing.
func (p *process) abandon() {
	p.mu.Lock()
	jobs := maps.Clone(p.jobs)
	if !p.connected {
		jobs = nil
	}
	p.mu.Unlock()
	for nspace, end := range jobs {
		target := []pmix.Proc{pmix.All(nspace)}
		if !end {
			p.notify(&pmix.Request{Event: pmix.DebuggerRelease, Targets: target})
			continue
		}
		var m memory
		kill(m.procs(target))
		m.done()
	}
}

// kill asks the server to kill processes.
func kill(targets *C.pmix_proc_t, n C.size_t) {
	info := C.sdm_infos(1)
	defer C.sdm_free_infos(info, 1)
	if load(info, &pmix.Info{Key: pmix.ControlKill, Value: pmix.Value{Type: pmix.Bool, Number: 1}}) != nil {
		return
	}
	var result *C.pmix_info_t
	var count C.size_t
	C.PMIx_Job_control(targets, n, info, 1, &result, &count)
	C.sdm_free_infos(result, count)
}

// fill sets the fields of a program. The array of infos is freed with the program.
func fill(app *C.pmix_app_t, from *pmix.App) error {
	var m memory
	defer m.done()
	for _, arg := range from.Argv {
		C.sdm_add_arg(app, m.text(arg))
	}
	for _, e := range from.Env {
		C.sdm_add_env(app, m.text(e))
	}
	infos, err := newInfos(from.Info)
	C.sdm_set_app(app, m.text(from.Dir), C.int(from.Procs), infos, C.size_t(len(from.Info)))
	return err
}

// push writes to the standard input of processes and waits for the callback. The C memory of the
// call is not freed: libpmix may keep it beyond the callback, and it is small.
func push(r *pmix.Request) C.pmix_status_t {
	pushed := make(chan C.pmix_status_t, 1)
	waiter := cgo.NewHandle(pushed)
	bytes := C.CBytes(r.Data)
	if rc := C.sdm_push(newProcs(r.Targets), C.size_t(len(r.Targets)), (*C.char)(bytes), C.size_t(len(r.Data)),
		C.bool(r.End), C.uintptr_t(waiter)); rc != 0 {
		waiter.Delete() // there is no callback
		return rc
	}
	return <-pushed
}

// finalize leaves the server. A second call does nothing.
func (p *process) finalize() C.pmix_status_t {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.connected {
		return 0
	}
	p.connected = false
	for _, h := range p.handlers {
		C.PMIx_Deregister_event_handler(C.size_t(h), nil, nil)
	}
	return C.PMIx_tool_finalize()
}
