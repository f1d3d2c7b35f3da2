// Unwind tables of an image.

package sampler

import (
	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/image"
)

// placedTables are the unwind tables of image i of a process, by the addresses of its file. The tables in
// memory with an index are used first; for addresses that they do not have, .eh_frame without an index and
// .debug_frame. It implements unwind.Tables.
type placedTables struct {
	*process
	i int
}

// Find implements unwind.Tables.
func (t *placedTables) Find(pc uint64) (*cfi.Row, error) {
	s, m := t.images[t.i], &t.modules[t.i]
	if table := s.tableOf(m); table != nil {
		if row, err := table.Find(pc); err == nil {
			return row, nil
		}
	}
	for _, table := range s.furtherTables(m, t.pid) {
		if row, err := table.Find(pc); err == nil {
			return row, nil
		}
	}
	return nil, cfi.ErrNone
}

// tableOf returns the tables in memory, with an index; nil: there are none.
func (s *shared) tableOf(m *image.Module) *cfi.Table {
	if !s.tabled {
		s.table = m.Table(&s.pages)
		s.tabled = s.table != nil || s.Read(m.Header.Start-m.Bias, make([]byte, 1)) // else the process has ended
	}
	return s.table
}

// furtherTables returns the tables that can be found only by the section headers of the file: .eh_frame of an
// image without an index, such as a statically linked program, and .debug_frame.
func (s *shared) furtherTables(m *image.Module, pid int) []*cfi.Table {
	if s.looked {
		return s.further
	}
	s.looked = true
	s.need(m, pid)
	if at, _, ok := s.symbols.Section(".eh_frame"); ok && s.tableOf(m) == nil {
		s.further = append(s.further, cfi.Walked(&s.pages, at))
	}
	for _, file := range [][]byte{s.file, s.separate} {
		if b := image.DebugFrame(file); b != nil {
			s.further = append(s.further, cfi.Debug(b))
		}
	}
	return s.further
}
