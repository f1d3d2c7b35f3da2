// Shared libraries.

package values

import (
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// libraryList is the body of info sharedlibrary and sharedlibrary. Column "K.addr" has
// the address at which library K is loaded.
type libraryList struct {
	Libraries []library `json:"libraries"`
}

type library struct {
	Name    string `json:"name"`
	Symbols bool   `json:"symbols"`
	// Lines reports, for sharedlibrary, that there are lines and types, not only names
	// of functions.
	Lines bool `json:"lines,omitempty"`
}

func (fr *Frames) infoLibraries(q *request.Request) {
	pattern, f := libraryNames(q)
	if f != nil {
		fr.Fail(q, f)
		return
	}
	fr.listLibraries(q, pattern, func(body libraryList, c *Columns) {
		if len(body.Libraries) == 0 && len(pattern) > 0 {
			fr.Fail(q, noLibraries(pattern[0]))
			return
		}
		fr.Reply(q, body, c.Sorted()...)
	})
}

// libraryNames returns the pattern of a command; empty: all libraries. gdb would take a
// pattern with blanks for two.
func libraryNames(q *request.Request) ([]string, *protocol.Fault) {
	pattern := strings.TrimSpace(q.Args.Expr)
	if strings.ContainsAny(pattern, "\n\"\\ ") {
		return nil, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(pattern) + " is no pattern for the names of libraries", Hint: "a part of a name, as in " + q.Name + " libc"}
	}
	return strings.Fields(pattern), nil
}

func noLibraries(pattern string) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: "No loaded shared libraries match the pattern `" + pattern + "'."}
}

// listLibraries returns the libraries that match a pattern, or all. It answers with
// gdb's error, if any.
func (fr *Frames) listLibraries(q *request.Request, pattern []string, then func(libraryList, *Columns)) {
	fr.Ask(q, func(a request.Answer) {
		if a.Failed() {
			fr.Refused(q, a)
			return
		}
		body := libraryList{Libraries: []library{}}
		c := ColumnsOf(fr.Process().Rank, q.Args.Limit)
		for i, f := range a.Results.Path("shared-libraries").Fields {
			l := f.Value.Fields
			body.Libraries = append(body.Libraries, library{Name: inferior.AsSeen(l.Str("target-name")), Symbols: l.Str("symbols-loaded") == "1"})
			if ranges := l.Path("ranges").Fields; len(ranges) > 0 {
				c.Add(strconv.Itoa(i)+".addr", ranges[0].Value.Fields.Str("from"))
			}
		}
		then(body, c)
	}, "-file-list-shared-libraries", append(fr.Where(q), pattern...)...)
}

// withoutLines finds, in gdb's output while it reads symbols, the libraries that have
// only names of functions:
//
//	Reading symbols from /lib64/ld-linux-x86-64.so.2...
//	(No debugging symbols found in /lib64/ld-linux-x86-64.so.2)
func withoutLines(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "(No debugging symbols found in "); ok {
			names = append(names, inferior.AsSeen(strings.TrimSuffix(strings.TrimSpace(name), ")")))
		}
	}
	return names
}

// DebugFilesVariable keeps gdb's original debug-file-directory, which is cleared when
// gdb starts.
const DebugFilesVariable = "$_sdm_debug_files"

// loadLibraries executes sharedlibrary: it reads the separate debug files of the
// libraries that match a pattern. gdb reads the debug file of a library together with its symbols
// or not at all. So all libraries are discarded and read again, with the debug files that were
// requested before.
func (fr *Frames) loadLibraries(q *request.Request) {
	words, f := libraryNames(q)
	if f != nil {
		fr.Fail(q, f)
		return
	}
	pattern := strings.Join(words, "")
	fr.listLibraries(q, words, func(body libraryList, _ *Columns) {
		if len(body.Libraries) == 0 {
			fr.Fail(q, noLibraries(pattern))
			return
		}
		fr.readLibraries(q, pattern, words)
	})
}

func (fr *Frames) readLibraries(q *request.Request, pattern string, words []string) {
	fr.Ask(q, func(a request.Answer) {
		dir, err := strconv.Unquote(a.Results.Str("value"))
		if err != nil || a.Failed() {
			dir = "/usr/lib/debug" // gdb 9 cannot tell; most systems have this one
		}
		if !slices.Contains(fr.withLines, pattern) {
			fr.withLines = append(fr.withLines, pattern)
		}
		var noLines []string
		line := func(text string) {
			k := fr.Ask(q, func(a request.Answer) { noLines = append(noLines, withoutLines(a.Text)...) }, "-interpreter-exec",
				append(fr.Where(q), "console", text)...)
			k.Print = true
		}
		fr.ReadsAll("sharedlibrary")
		line("nosharedlibrary")
		if !fr.Settings().Eager {
			line("set debug-file-directory " + dir)
			for _, p := range fr.withLines {
				line("sharedlibrary " + p)
			}
			line("set debug-file-directory " + NoDebugFiles)
		}
		line("sharedlibrary")
		fr.listLibraries(q, words, func(body libraryList, c *Columns) {
			for i := range body.Libraries {
				l := &body.Libraries[i]
				l.Lines = l.Symbols && !slices.Contains(noLines, l.Name)
			}
			fr.Reply(q, body, c.Sorted()...)
		})
	}, "-data-evaluate-expression", append(fr.At(q), DebugFilesVariable)...)
}

// NoDebugFiles is a directory that does not exist. With an empty setting gdb would use
// the directory that was compiled in.
const NoDebugFiles = "/nonexistent/no-debug-files"
