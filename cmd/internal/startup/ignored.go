// Signals that were ignored when the program was started, as far as the Go runtime does not tell.

package startup

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"os/signal"
	"syscall"

	"sdm/launch"
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
// address; 0 if there is none. It does not use debug/elf's symbols, which would allocate a value for each of 50,000
// symbols.
func fileSymbol(program io.ReaderAt, name string) (addr, size uint64) {
	f, err := elf.NewFile(program)
	if err != nil || f.Type != elf.ET_EXEC || f.ByteOrder != binary.LittleEndian {
		return 0, 0
	}
	at := launch.IndexIn(program, f.Section(".strtab"), "\x00"+name+"\x00")
	table := f.Section(".symtab")
	if at < 0 || table == nil {
		return 0, 0
	}
	piece := make([]byte, 1024*elf.Sym64Size)
	for offset := int64(0); ; offset += int64(len(piece)) {
		n, _ := table.ReadAt(piece, offset)
		for symbols := piece[:n]; len(symbols) >= elf.Sym64Size; symbols = symbols[elf.Sym64Size:] {
			if int64(binary.LittleEndian.Uint32(symbols)) == at+1 {
				return binary.LittleEndian.Uint64(symbols[8:]), binary.LittleEndian.Uint64(symbols[16:])
			}
		}
		if n < len(piece) {
			return 0, 0
		}
	}
}
