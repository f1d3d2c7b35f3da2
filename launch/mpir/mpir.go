// Package mpir controls the jobs of starters (mpirun, srun) that have the MPIR process acquisition
// interface: variables in the starter's memory tell a debugger where the ranks are, and the
// starter calls a function when all ranks are held.
//
//	MPIR_being_debugged   the debugger writes 1, then ranks are held
//	MPIR_Breakpoint       is called when all are; the debugger stops the starter there
//	MPIR_proctable[_size] host, program and process id of each rank
//	MPIR_debug_state      1: the ranks are there, 2: the job is being aborted
//
// Source: The MPIR Process Acquisition Interface, version 1.0, MPI Forum, 2010.
// Real starters have no type information, so layouts follow from the C declarations there, on a
// machine of 64 bits.
package mpir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Memory is the memory of a starter.
type Memory interface {
	// Symbol returns the address and the size in bytes (0: unknown) of a variable or function;
	// found is false if the starter has none of that name.
	Symbol(name string) (addr uint64, size uint64, found bool)
	// Read fills p from an address, or returns an error.
	Read(addr uint64, p []byte) error
	// Write writes p to an address, or returns an error.
	Write(addr uint64, p []byte) error
}

// The names of the interface that this package uses.
const (
	symBreakpoint    = "MPIR_Breakpoint"
	symBeingDebugged = "MPIR_being_debugged"
	symTable         = "MPIR_proctable"
	symTableSize     = "MPIR_proctable_size"
	symState         = "MPIR_debug_state"
	symAbort         = "MPIR_debug_abort_string"
	symPath          = "MPIR_executable_path"
	symArguments     = "MPIR_server_arguments"
	symFIFO          = "MPIR_attach_fifo"
	symJobID         = "MPIR_job_id"
	symSlurmJobID    = "totalview_jobid" // of srun
)

// stateAborting is the value of MPIR_debug_state when the starter aborts the job.
const stateAborting = 2

// Bounds of texts in a starter's memory, in bytes.
const (
	maxHost    = 1 << 10 // host names have up to 255 bytes
	maxProgram = 4 << 10 // PATH_MAX
	maxJobID   = 1 << 10
	maxAbort   = 4 << 10
)

// entrySize is the size of MPIR_PROCDESC in bytes: two pointers and an int, padded.
const entrySize = 24

// entriesAtOnce bounds one read, so that an invalid table size fails before much memory is
// allocated.
const entriesAtOnce = 4096

// errNoMPIR means that a process has no MPIR.
var errNoMPIR = errors.New("it offers debuggers no MPIR interface")

// pointerSize is the size of an address in bytes.
const pointerSize = 8

func readWord(m Memory, addr uint64) (uint64, error) {
	var b [pointerSize]byte
	err := m.Read(addr, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// readInt reads a variable of type int; 0 if the starter does not have it.
func readInt(m Memory, name string) (int, error) {
	addr, _, found := m.Symbol(name)
	if !found {
		return 0, nil
	}
	var b [4]byte
	err := m.Read(addr, b[:])
	return int(int32(binary.LittleEndian.Uint32(b[:]))), err
}

// writeInt sets a variable of type int, if the starter has it.
func writeInt(m Memory, name string, value int32) error {
	addr, _, found := m.Symbol(name)
	if !found {
		return nil
	}
	return m.Write(addr, binary.LittleEndian.AppendUint32(nil, uint32(value)))
}

// pageSize is the smallest page size of the supported machines, in bytes: if one byte of a page
// can be read, all can.
const pageSize = 4096

// readText reads a C string of at most limit bytes; a longer one is an error.
func readText(m Memory, addr uint64, limit int) (string, error) {
	if addr == 0 {
		return "", nil
	}
	var text []byte
	var piece [256]byte
	for len(text) <= limit {
		n := min(uint64(len(piece)), pageSize-addr%pageSize)
		if err := m.Read(addr, piece[:n]); err != nil {
			return "", err
		}
		if end := bytes.IndexByte(piece[:n], 0); end >= 0 {
			text = append(text, piece[:end]...)
			if len(text) > limit {
				break
			}
			return string(text), nil
		}
		text = append(text, piece[:n]...)
		addr += n
	}
	return "", fmt.Errorf("a text is longer than %d bytes", limit)
}

// tableSize returns how many ranks the table has; 0: none yet.
func tableSize(m Memory) (int, error) {
	n, err := readInt(m, symTableSize)
	switch {
	case err != nil:
		return 0, err
	case n < 0 || n > int(rank.MaxID)+1:
		return 0, fmt.Errorf("%s is %d, which is no number of ranks", symTableSize, n)
	}
	return n, nil
}

// ReadTable reads the starter's table of ranks: rank i is entry i.
func ReadTable(m Memory) (protocol.Proctable, error) {
	table, err := readTable(m)
	if err == nil {
		err = table.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be used: %w", symTable, err)
	}
	return table, nil
}

func readTable(m Memory) (protocol.Proctable, error) {
	addr, _, found := m.Symbol(symTable)
	if !found {
		return nil, errNoMPIR
	}
	n, err := tableSize(m)
	if err != nil {
		return nil, err
	}
	at, err := readWord(m, addr)
	if err != nil {
		return nil, err
	}
	r := tableReader{m: m, texts: map[uint64]string{}}
	for first := 0; first < n; first += entriesAtOnce {
		if err := r.read(at+uint64(first)*entrySize, first, min(entriesAtOnce, n-first)); err != nil {
			return nil, err
		}
	}
	return r.table, nil
}

// tableReader reads entries. It reads the text at each pointer only once: ranks share texts.
type tableReader struct {
	m     Memory
	table protocol.Proctable
	texts map[uint64]string
}

func (r *tableReader) read(addr uint64, first, n int) error {
	raw := make([]byte, n*entrySize)
	if err := r.m.Read(addr, raw); err != nil {
		return err
	}
	for i := range n {
		e := raw[i*entrySize:]
		host, err := r.text(binary.LittleEndian.Uint64(e), maxHost)
		if err != nil {
			return fmt.Errorf("host of rank %d: %w", first+i, err)
		}
		program, err := r.text(binary.LittleEndian.Uint64(e[pointerSize:]), maxProgram)
		if err != nil {
			return fmt.Errorf("program of rank %d: %w", first+i, err)
		}
		pid := int(int32(binary.LittleEndian.Uint32(e[2*pointerSize:])))
		r.table = append(r.table, protocol.Process{Rank: rank.ID(first + i), Host: host, PID: pid, Program: program})
	}
	return nil
}

func (r *tableReader) text(addr uint64, limit int) (string, error) {
	if t, known := r.texts[addr]; known {
		return t, nil
	}
	t, err := readText(r.m, addr, limit)
	if err == nil {
		r.texts[addr] = t
	}
	return t, err
}

// jobID returns the starter's name of its job: MPIR_job_id, or srun's totalview_jobid; "" if it
// has none. The type of the former is not specified: the size of the variable shows whether it is an
// int, a pointer or an array.
func jobID(m Memory) string {
	for _, name := range []string{symJobID, symSlurmJobID} {
		addr, size, found := m.Symbol(name)
		if !found {
			continue
		}
		if size == 4 {
			if n, err := readInt(m, name); err == nil && n > 0 {
				return strconv.Itoa(n)
			}
			continue
		}
		if size == pointerSize || size == 0 {
			if at, err := readWord(m, addr); err == nil {
				addr = at
			}
		}
		if text, err := readText(m, addr, maxJobID); err == nil && text != "" {
			return text
		}
	}
	return ""
}

// aborted returns the starter's reason if it aborts the job.
func aborted(m Memory) error {
	state, err := readInt(m, symState)
	if err != nil || state != stateAborting {
		return err
	}
	why := ""
	if addr, _, found := m.Symbol(symAbort); found {
		if at, err := readWord(m, addr); err == nil {
			why, _ = readText(m, at, maxAbort)
		}
	}
	if why == "" {
		return errors.New("the starter gives the job up")
	}
	return fmt.Errorf("the starter gives the job up: %s", why)
}
