// Which indexes are complete.

package indexcache

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

const (
	// Versions of the format that are known here: 7 to 9. gdb ignores others than its own.
	firstVersion, lastVersion = 7, 9
	// maxTable bounds the symbol table that is read, in bytes: a program with four million
	// names.
	maxTable = 64 << 20
	// maxName bounds a name, in bytes.
	maxName = 1 << 20
)

// isComplete reports whether gdb has written the whole of an index. Nothing in it tells how long it
// is, but its last part are the names of symbols, and the one that the symbol table places last
// ends the file (GDB manual, Index Section Format).
func isComplete(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && check(f, info.Size()) == nil
}

// check is isComplete for an index of size bytes; the error says what is missing.
func check(index io.ReaderAt, size int64) error {
	word := binary.LittleEndian.Uint32
	var header [7 * 4]byte
	if _, err := index.ReadAt(header[:], 0); err != nil {
		return fmt.Errorf("no header: %w", err)
	}
	version := word(header[:])
	if version < firstVersion || version > lastVersion {
		return fmt.Errorf("version %d", version)
	}
	table, end := int64(word(header[16:])), int64(word(header[20:]))
	pool, shortcuts := end, int64(0)
	if version >= 9 { // between them are the language and the name of the main function
		pool, shortcuts = int64(word(header[24:])), 8
	}
	if table > end || end+shortcuts > pool || pool > size || end-table > maxTable || (end-table)%8 != 0 {
		return fmt.Errorf("a symbol table from %d to %d of %d", table, end, size)
	}
	slots := make([]byte, end-table+shortcuts)
	if _, err := index.ReadAt(slots, table); err != nil {
		return fmt.Errorf("no symbol table: %w", err)
	}
	last := int64(-1)
	if main := slots[end-table:]; shortcuts > 0 && word(main) != 0 {
		last = pool + int64(word(main[4:]))
	}
	for slots = slots[:end-table]; len(slots) > 0; slots = slots[8:] {
		if word(slots) != 0 || word(slots[4:]) != 0 {
			last = max(last, pool+int64(word(slots)))
		}
	}
	if last < 0 && size == pool {
		return nil
	}
	if last < 0 || last >= size || size-last > maxName {
		return fmt.Errorf("the last name is at %d of %d", last, size)
	}
	name := make([]byte, size-last)
	if _, err := index.ReadAt(name, last); err != nil {
		return fmt.Errorf("no last name: %w", err)
	}
	for i, c := range name {
		if (c == 0) != (i == len(name)-1) {
			return fmt.Errorf("the last name does not end at %d", size)
		}
	}
	return nil
}
