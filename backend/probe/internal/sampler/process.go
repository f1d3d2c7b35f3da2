// The code of one process.

package sampler

import (
	"fmt"
	"math"
	"os"
	"sort"
	"strings"

	"sdm/backend"
	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/image"
	"sdm/backend/probe/internal/proc"
	"sdm/backend/probe/internal/snapshot"
	"sdm/backend/probe/internal/unwind"
	"sdm/protocol/digest"
	"sdm/protocol/wait"
)

// process is what is known of a process before it is held: its mappings and images. It implements
// unwind.Code.
type process struct {
	id      int // process ID
	pid     int // ID of the thread through which it is read: id, or another one if the first thread has ended
	maps    []image.Mapping
	text    *mapsText // for maps
	modules []image.Module
	images  []*shared        // of the modules
	placed  []snapshot.Image // the images at their places
	tables  []placedTables   // of the images
	files   proc.Kept
	size    string // result of sizes before maps were read
	fresh   bool   // maps have just been read
	program string // file of the program, as in image.Module
	objects backend.Objects
	// mayPython are the images that may contain an interpreter of Python; nil: not looked for yet.
	mayPython *pythonImages
	python    *pythonOf   // nil: it has no interpreter of Python
	number    number      // in MPI_COMM_WORLD
	comms     []uint64    // communicators of calls in which it was, see counted
	tracer    hold.Tracer // that traced it in our place when it was to be held last
	// derivable is how many instructions of code without tables may be executed for this sample.
	derivable int
}

// mapsText is memory for texts of mappings and beginnings of images, of one process at a time, and the names in
// all of the texts.
type mapsText struct {
	text  []byte
	names image.Names
	heads []byte
}

// by sets the thread through which the process is read.
func (p *process) by(tid int) {
	p.files.Close()
	p.pid, p.files = tid, proc.Keep(tid)
	p.size = p.sizes()
}

// readMaps reads the mappings. t is reused memory.
func (p *process) readMaps(t *mapsText) (err error) {
	// The kernel bounds the number of mappings (vm.max_map_count).
	if t.text, err = proc.ReadText(fmt.Sprintf("/proc/%d/maps", p.pid), t.text, math.MaxInt); err != nil {
		return err
	}
	if len(t.names) > maxPlaces {
		t.names = image.Names{}
	}
	p.maps, p.text = image.ParseMaps(t.text, t.names), t
	if len(p.maps) == 0 {
		return ErrEnded
	}
	return nil
}

// heads reads the beginnings of mappings.
func (p *process) heads(all []image.Head) {
	hold.Memory(p.pid).ReadMany(len(all), func(i int) (uint64, []byte) { return all[i].Addr, all[i].Bytes },
		func(i int) { all[i].Read = true })
}

// isAsBefore reports whether the mappings seem to be those that were read: the size of the memory is
// the same, and the interpreter of Python, which is read while the process is held, is where it was.
func (p *process) isAsBefore() bool {
	if p.size == "" || p.size != p.sizes() {
		return false
	}
	if p.python != nil {
		return p.areInPlace([]int{p.python.module})
	}
	return true
}

// sizes returns the sizes of the memory of the process that change with its mappings (proc(5), statm):
// total, code and data. "": not known.
func (p *process) sizes() string {
	f := strings.Fields(p.files.Sizes())
	if len(f) < 6 {
		return ""
	}
	return f[0] + " " + f[3] + " " + f[5]
}

// areInPlace reports whether the modules with some numbers are where they were when the mappings were read.
func (p *process) areInPlace(modules []int) bool {
	all := make([]image.Head, len(modules))
	if need := image.SumSize * len(modules); len(p.text.heads) < need {
		p.text.heads = make([]byte, need)
	}
	for i, m := range modules {
		all[i].Addr, all[i].Bytes = p.modules[m].Header.Start, p.text.heads[i*image.SumSize:][:image.SumSize]
	}
	p.heads(all)
	for i, m := range modules {
		if !all[i].Read || digest.Of(all[i].Bytes) != p.modules[m].Sum {
			return false
		}
	}
	return true
}

// module returns the number of the module at an address, -1 if there is none. The range of a module may
// contain mappings of other files, but no code of them.
func (p *process) module(addr uint64) int {
	i := sort.Search(len(p.modules), func(i int) bool { return p.modules[i].End > addr })
	if i == len(p.modules) || addr < p.modules[i].First {
		return -1
	}
	return i
}

// Find implements unwind.Code.
func (p *process) Find(pc uint64) (tables unwind.Tables, bias uint64, name string) {
	i := p.module(pc)
	if i < 0 {
		return nil, 0, ""
	}
	m, s := &p.modules[i], p.images[i]
	s.from, s.bias = hold.Memory(p.pid), m.Bias
	return &p.tables[i], m.Bias, m.Name()
}

// Executable implements unwind.Code.
func (p *process) Executable(pc uint64) bool {
	m := image.At(p.maps, pc)
	return m != nil && m.Executable
}

// stackEnd returns the end of the mapping of a stack pointer. If the mappings were read for an earlier
// sample and have none there, they are read again.
func (p *process) stackEnd(sp uint64) uint64 {
	end := p.endOf(sp)
	if end == 0 && !p.fresh {
		p.fresh, p.size = true, "" // so that the next sample finds the images again
		if p.readMaps(p.text) == nil {
			end = p.endOf(sp)
		}
	}
	return end
}

// endOf returns the end of the mapping of a stack pointer; 0: there is none. The stack of the first thread
// may have grown downwards since the mappings were read, by 1 MiB at most.
func (p *process) endOf(sp uint64) uint64 {
	for _, addr := range []uint64{sp, sp + 1<<20} {
		if m := image.At(p.maps, addr); m != nil && (addr == sp || m.Path == "[stack]") {
			return m.End
		}
	}
	return 0
}

// at returns the functions at an address, the innermost inlined one first, and their library,
// which is "" for the program itself.
func (p *process) at(addr uint64) (places []image.Place, library string) {
	unknown := []image.Place{{Function: unnamed}}
	i := p.module(addr)
	if i < 0 {
		return unknown, ""
	}
	m := &p.modules[i]
	places = p.images[i].at(m, p.pid, addr-m.Bias)
	if m.File != p.program && strings.HasPrefix(m.Path, "/") {
		library = p.images[i].library(m)
	}
	if len(places) == 0 {
		return unknown, library
	}
	return places, library
}

// programOf returns the image.Module.File of the program; "": it is not among the modules.
func (p *process) programOf() string {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.pid))
	for _, m := range p.modules {
		if err == nil && m.Path == exe {
			return m.File
		}
	}
	return ""
}

// stateNow returns the state of the process by its first thread, or of another one if that has ended.
func (p *process) stateNow() wait.State {
	switch p.files.Letter() {
	case 'R':
		return wait.Running
	case 'S', 'I':
		return wait.Sleeping
	case 'D':
		return wait.Disk
	case 'T':
		return wait.Stopped
	case 't':
		return wait.Traced
	case 'Z', 'X', 'x', 0:
		return wait.Dead
	}
	return wait.NotKnown
}
