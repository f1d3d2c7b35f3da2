// Unwind tables of an image.

package probe

import (
	"sdm/backend/probe/cfi"
	"sdm/backend/probe/image"
)

// placedTables are those of an image of a process, by the addresses of its file: the ones in memory that have an
// index, and where they have no entry .eh_frame without an index, and .debug_frame. It implements
// unwind.Tables.
type placedTables struct {
	*process
	i int
}

// Find implements unwind.Tables.
func (t placedTables) Find(pc uint64) (*cfi.Row, error) {
	s := t.images[t.i]
	if s.table != nil {
		if row, err := s.table.Find(pc); err == nil {
			return row, nil
		}
	}
	for _, table := range s.furtherTables(&t.modules[t.i], t.pid) {
		if row, err := table.Find(pc); err == nil {
			return row, nil
		}
	}
	return nil, cfi.ErrNone
}

// furtherTables returns the tables that only sections of the file tell of: programs that are linked
// statically have no index.
func (s *shared) furtherTables(m *image.Module, pid int) []*cfi.Table {
	if s.looked {
		return s.further
	}
	s.looked = true
	s.need(m, pid)
	if at, _, ok := s.symbols.Section(".eh_frame"); ok && s.table == nil {
		s.further = append(s.further, cfi.Walked(&s.pages, at))
	}
	for _, file := range [][]byte{s.file, s.separate} {
		if b := image.DebugFrame(file); b != nil {
			s.further = append(s.further, cfi.Debug(b))
		}
	}
	return s.further
}
