// Signals that were ignored when the program was started, as far as the Go runtime does not tell.

package startup

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// inheritable returns the signals that must stay ignored, in this process and its children, if they
// were ignored at the start. The runtime needs the others, handles them itself (SIGHUP, SIGINT), or
// does not change them (SIGTSTP, SIGTTIN, SIGTTOU).
func inheritable() []syscall.Signal {
	list := []syscall.Signal{
		syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE, syscall.SIGALRM, syscall.SIGTERM,
		syscall.SIGXCPU, syscall.SIGXFSZ, syscall.SIGVTALRM, syscall.SIGIO, syscall.SIGPWR, syscall.SIGWINCH,
	}
	const firstRealTime, last = 35, 64 // glibc uses 32 and 33, Go's runtime 34
	for s := syscall.Signal(firstRealTime); s <= last; s++ {
		list = append(list, s)
	}
	return list
}

// KeepIgnored ignores the signals again that were ignored when the program was started. Programs
// call it at the start of main. The runtime has replaced the handlers by then, and keeps the earlier ones
// in a variable, which KeepIgnored reads from the process's memory. In a program without a symbol
// table, or with a runtime without that variable, only SIGHUP and SIGINT stay ignored.
func KeepIgnored() {
	const ignored = 1 // SIG_IGN
	earlier := earlierHandlers()
	for _, s := range inheritable() {
		if i := int(s) * 8; i+8 <= len(earlier) && binary.NativeEndian.Uint64(earlier[i:]) == ignored {
			signal.Ignore(s)
		}
	}
}

// earlierHandlers returns the earlier handlers by signal, 8 bytes each; nil if they are not found.
func earlierHandlers() []byte {
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil
	}
	defer program.Close()
	addr, size := fileSymbol(program, "runtime.fwdSig")
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil
	}
	defer memory.Close()
	b := make([]byte, min(size, 65*8))
	if _, err := memory.ReadAt(b, int64(addr)); err != nil {
		return nil
	}
	return b
}

// fileSymbol returns the address and size of a variable of a program that is loaded at its link
// address; 0 if there is none. The file is mapped: to read its tables into memory would take a
// fifth of the time of a start.
func fileSymbol(program *os.File, name string) (addr, size uint64) {
	info, err := program.Stat()
	if err != nil {
		return 0, 0
	}
	image, err := syscall.Mmap(int(program.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return 0, 0
	}
	defer syscall.Munmap(image)
	return symbolIn(image, name)
}

// symbolIn is fileSymbol for the bytes of the file. It does not use debug/elf's symbols, which would
// allocate a value for each of 50,000 symbols.
func symbolIn(image []byte, name string) (addr, size uint64) {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil || f.Type != elf.ET_EXEC {
		return 0, 0
	}
	symbols, names := sectionOf(f, image, ".symtab"), sectionOf(f, image, ".strtab")
	at := bytes.Index(names, slices.Concat([]byte{0}, []byte(name), []byte{0}))
	for ; at >= 0 && len(symbols) >= elf.Sym64Size; symbols = symbols[elf.Sym64Size:] {
		if f.ByteOrder.Uint32(symbols) == uint32(at+1) {
			return f.ByteOrder.Uint64(symbols[8:]), f.ByteOrder.Uint64(symbols[16:])
		}
	}
	return 0, 0
}

// sectionOf returns the bytes of a section; nil if there is none.
func sectionOf(f *elf.File, image []byte, name string) []byte {
	s := f.Section(name)
	if s == nil || s.Type == elf.SHT_NOBITS || s.Offset > uint64(len(image)) || s.FileSize > uint64(len(image))-s.Offset {
		return nil
	}
	return image[s.Offset:][:s.FileSize]
}
