// Names of addresses.

package sampler

import (
	"sdm/backend/probe/internal/image"
	"sdm/backend/probe/internal/symbol"
)

// at returns the functions at an address of the file of a module, the innermost inlined one first; none
// if nothing is known. The debug information has precedence over symbols.
func (s *shared) at(m *image.Module, pid int, addr uint64) []image.Place {
	places, ok := s.places[addr]
	if !ok {
		s.need(m, pid)
		s.loaded = true
		s.readLines()
		places = s.lines.At(addr)
		if len(places) == 0 || places[0].Function == "" {
			places = s.bySymbol(m, pid, addr, places)
		}
		if len(s.places) == maxPlaces {
			clear(s.places)
		}
		if s.named {
			s.places[addr] = places
		}
	}
	return places
}

// bySymbol returns the place of an address with the name of its symbol, and the line of places if there is one; none
// without a name.
func (s *shared) bySymbol(m *image.Module, pid int, addr uint64, places []image.Place) []image.Place {
	name := s.stubName(m, pid, addr)
	if name == "" {
		name = symbol.Readable(s.nameOf(m, pid, addr))
	}
	switch {
	case name == "":
		return nil
	case len(places) == 0:
		return []image.Place{{Function: name}}
	}
	places[0].Function = name
	return places
}
