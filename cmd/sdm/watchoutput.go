// The output of a job that is watched, as far as it goes to files.

package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"sdm/master/hangfile"
	"sdm/master/session"
	"sdm/protocol"
)

// outputs are the files to which a process writes its standard output and standard error. Pipes and terminals are not
// read: nothing stands between the job and them.
type outputs struct {
	files []outputFile
}

// outputFile is one of them.
type outputFile struct {
	file  *os.File
	kind  protocol.Kind
	start int64 // its size when it was opened: what is before was written by others
}

// openOutputs opens the files of a process; 0: there is none.
func openOutputs(pid int) *outputs {
	o := &outputs{}
	var seen []unix.Stat_t
	for i, kind := range []protocol.Kind{protocol.KindStdout, protocol.KindStderr} {
		path := fmt.Sprintf("/proc/%d/fd/%d", pid, i+1)
		var st unix.Stat_t
		if pid == 0 || unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		if len(seen) > 0 && seen[0].Dev == st.Dev && seen[0].Ino == st.Ino {
			continue
		}
		if f, err := os.Open(path); err == nil {
			seen = append(seen, st)
			o.files = append(o.files, outputFile{f, kind, st.Size})
		}
	}
	return o
}

func (o *outputs) close() {
	for _, f := range o.files {
		f.file.Close()
	}
}

// size returns the number of bytes in the files.
func (o *outputs) size() (sum int64) {
	for _, f := range o.files {
		if info, err := f.file.Stat(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// end returns the end of a file, and how much is in front of it.
func (f *outputFile) end() (tail []byte, before int64) {
	info, err := f.file.Stat()
	if err != nil {
		return nil, 0
	}
	before = max(info.Size()-hangfile.TailBytes, 0)
	tail, err = io.ReadAll(io.NewSectionReader(f.file, before, hangfile.TailBytes))
	if err != nil {
		return nil, 0
	}
	return tail, before
}

// tail returns the ends of all files, without what was in them before they were opened: a script may write the
// output of several jobs into one file.
func (o *outputs) tail() (text string) {
	for i := range o.files {
		f := &o.files[i]
		end, before := f.end()
		if others := f.start - before; others > 0 && others <= int64(len(end)) { // else the file has become shorter
			end = end[others:]
		}
		text += string(end) + "\n"
	}
	return text
}

// output returns the ends of all files as they are in a hang file.
func (o *outputs) output() (out hangfile.Output) {
	for i := range o.files {
		f := &o.files[i]
		end, before := f.end()
		if len(end) == 0 {
			continue
		}
		e := session.NewEvent(protocol.Group{Kind: f.kind, Body: end})
		e.From = "starter"
		out.Events = append(out.Events, e)
		if f.kind == protocol.KindStdout {
			out.DroppedStdout = before
		} else {
			out.DroppedStderr = before
		}
	}
	return out
}
