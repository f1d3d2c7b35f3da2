// What is kept of processes and images from one sample to the next.

package sampler

import (
	"errors"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/image"
)

// known holds images by their keys, and processes. One goroutine uses it at a time.
type known struct {
	images    map[string]*shared // by image.Module.Key
	processes map[int]*process   // by process ID
	scratch   []byte             // for the headers of images
	text      mapsText
	// debugFiles is the directory of separate debug files; "": they are not read.
	debugFiles string
}

func newKnown(debugFiles string) known {
	text := mapsText{text: make([]byte, 0, 64<<10), names: image.Names{}}
	return known{images: map[string]*shared{}, processes: map[int]*process{}, text: text, debugFiles: debugFiles}
}

// look returns what is known of a process. It reads the mappings again only if they have changed.
func (k *known) look(pid int) (*process, error) {
	if p := k.processes[pid]; p != nil && p.isAsBefore() {
		p.findPython()
		p.fresh, p.derivable = false, maxDerived
		return p, nil
	}
	p, err := k.read(pid)
	if err != nil {
		k.Forget(pid)
		return nil, err
	}
	k.keep(p)
	k.sweep()
	return p, nil
}

// read reads the mappings of a process and finds its images.
func (k *known) read(pid int) (*process, error) {
	p := &process{id: pid, fresh: true, derivable: maxDerived}
	p.by(pid)
	err := p.readMaps(&k.text)
	if errors.Is(err, ErrEnded) {
		if tid := hold.LivingThread(pid); tid != 0 {
			p.by(tid)
			err = p.readMaps(&k.text)
		}
	}
	if err != nil {
		p.files.Close()
		return nil, err
	}
	p.modules = image.Modules(p.maps, p.heads, &k.scratch)
	for i := range p.modules {
		p.images = append(p.images, k.of(&p.modules[i], pid))
		p.placed = append(p.placed, placed{p, i})
		p.tables = append(p.tables, placedTables{p, i})
	}
	p.program = p.programOf()
	p.objects = p.objectsOf()
	p.findPython()
	return p, nil
}

// ErrEnded is the error of a process without memory: a zombie or a thread of the kernel.
var ErrEnded = errors.New("the process has ended")

// of returns the image of a module of a process. From then on its pages are read from the memory of that
// process.
func (k *known) of(m *image.Module, pid int) *shared {
	s := k.images[m.Key()]
	if s == nil {
		s = newShared(k.debugFiles)
		k.images[m.Key()] = s
	}
	s.from, s.bias = hold.Memory(pid), m.Bias
	return s
}

// keep stores what is known of a process, in place of what was.
func (k *known) keep(p *process) {
	if before := k.processes[p.id]; before != nil {
		before.files.Close()
	}
	k.processes[p.id] = p
}

// Forget drops what is known of a process, and the images that no other process has.
func (k *known) Forget(pid int) {
	p, found := k.processes[pid]
	if !found {
		return
	}
	p.files.Close()
	delete(k.processes, pid)
	for _, s := range k.images {
		delete(s.interpreters, pid)
	}
	k.sweep()
}

// Unload releases the memory of mapped files. What was found in the files is kept.
func (k *known) Unload() {
	for _, s := range k.images {
		for _, b := range [][]byte{s.file, s.separate} {
			if s.loaded && b != nil {
				hold.Unload(b)
			}
		}
		s.loaded = false
	}
}

// ForgetOthers drops what is known of all processes but some.
func (k *known) ForgetOthers(pids map[int]bool) {
	for pid := range k.processes {
		if !pids[pid] {
			k.Forget(pid)
		}
	}
}

// rest drops the memory that only samples use. What they have found is kept.
func (k *known) rest() {
	k.scratch, k.text = nil, mapsText{names: image.Names{}}
	for _, s := range k.images {
		s.rest()
	}
	for _, p := range k.processes {
		p.files.Close()
	}
}

// sweep drops the images that no known process has.
func (k *known) sweep() {
	used := map[*shared]bool{}
	for _, p := range k.processes {
		for _, s := range p.images {
			used[s] = true
		}
	}
	for key, s := range k.images {
		if !used[s] {
			s.unmap()
			delete(k.images, key)
		}
	}
}
