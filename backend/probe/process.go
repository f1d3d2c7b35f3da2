// The code of one process.

package probe

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	"sdm/backend"
	"sdm/backend/probe/cfi"
	"sdm/backend/probe/hold"
	"sdm/backend/probe/image"
)

// process is what is known of a process before it is held. It implements unwind.Code.
type process struct {
	pid     int
	maps    []image.Mapping
	modules []image.Module
	images  []*shared // of the modules
	program string    // file of the program, as in image.Module
	objects backend.Objects
	python  *pythonOf       // nil: it has no interpreter
	calls   map[int]blocked // of MPI, by thread; nil: not looked for
}

// errNoMemory says that a process has no memory: it is a zombie or a thread of the kernel.
var errNoMemory = errors.New("the process has ended")

// look reads the mappings of a process and finds its images.
func (c cache) look(pid int) (*process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	p := &process{pid: pid, maps: image.ParseMaps(string(text))}
	if len(p.maps) == 0 {
		return nil, errNoMemory
	}
	p.modules = image.Modules(p.maps, hold.Memory(pid))
	for i := range p.modules {
		p.images = append(p.images, c.of(&p.modules[i], pid))
	}
	p.program = p.programOf()
	p.objects = p.objectsOf()
	p.findPython()
	return p, nil
}

// module returns the number of the module at an address, -1 if there is none. Another mapping may
// lie within the range of a module, but code does not.
func (p *process) module(addr uint64) int {
	i := sort.Search(len(p.modules), func(i int) bool { return p.modules[i].End > addr })
	if i == len(p.modules) || addr < p.modules[i].First {
		return -1
	}
	return i
}

// Find implements unwind.Code.
func (p *process) Find(pc uint64) (table *cfi.Table, bias uint64, name string) {
	i := p.module(pc)
	if i < 0 {
		return nil, 0, ""
	}
	m, s := &p.modules[i], p.images[i]
	s.from, s.bias = hold.Memory(p.pid), m.Bias
	return s.table, m.Bias, m.Name()
}

// Executable implements unwind.Code.
func (p *process) Executable(pc uint64) bool {
	m := image.At(p.maps, pc)
	return m != nil && m.Executable
}

// stackEnd returns the end of the mapping of a stack pointer. The first stack may have grown since
// the mappings were read.
func (p *process) stackEnd(sp uint64) uint64 {
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

// programOf returns the file of the program among the modules; "": it is not there.
func (p *process) programOf() string {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.pid))
	for _, m := range p.modules {
		if err == nil && m.Path == exe {
			return m.File
		}
	}
	return ""
}
