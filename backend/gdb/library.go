// Shared libraries.

package gdb

import "strconv"

// libraryList is the body of info sharedlibrary. Where library K was loaded is
// in column "K.addr".
type libraryList struct {
	Libraries []library `json:"libraries"`
}

type library struct {
	Name    string `json:"name"`
	Symbols bool   `json:"symbols"`
}

func (m *machine) infoLibraries(q *request) {
	m.ask(q, func(a answer) {
		if a.failed() {
			m.refused(q, a)
			return
		}
		body := libraryList{Libraries: []library{}}
		c := columnsOf(m.target.Rank, q.args.Limit)
		for i, f := range a.Results.Path("shared-libraries").Fields {
			l := f.Value.Fields
			body.Libraries = append(body.Libraries, library{l.Str("target-name"), l.Str("symbols-loaded") == "1"})
			if ranges := l.Path("ranges").Fields; len(ranges) > 0 {
				c.add(strconv.Itoa(i)+".addr", ranges[0].Value.Fields.Str("from"))
			}
		}
		m.reply(q, body, c.sorted()...)
	}, "-file-list-shared-libraries", m.where(q)...)
}
