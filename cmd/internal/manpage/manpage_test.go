package manpage

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestRoff(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringP("file", "o", "", "`path` of the file; it's new")
	flags.Int("n", 4, "number")
	flags.Bool("secret", false, "")
	flags.MarkHidden("secret")
	page := Page{
		Name: "sdm-run", Section: 1, Brief: "start a program", Build: "v1", Date: "2026-11-29",
		Text:     "sdm run [flags] PROGRAM\n\nStarts it\nsoon.\n.hidden\n\n  sdm run -n 2  a\\b\n\nExit status: 0 well.\n",
		Sections: []Section{{Title: "Flags", Flags: flags}, {Title: "Files", Text: "One."}},
		Foot:     "\nSet in the environment.\n\nExit status: 1 badly.\n", Also: []string{"sdm(1)", "gdb(1)"},
	}
	want := `.TH "SDM\-RUN" "1" "2026-11-29" "sdm v1" "sdm"
.SH "NAME"
sdm\-run \- start a program
.SH "SYNOPSIS"
.nf
\fBsdm run\fP [flags] PROGRAM
.fi
.SH "DESCRIPTION"
Starts it soon. .hidden
.PP
.nf
  sdm run \-n 2  a\eb
.fi
.SH "EXIT STATUS"
0 well.
.SH "OPTIONS"
.SS "Flags"
.TP
\fB\-o\fP, \fB\-\-file\fP \fIpath\fP
path of the file; it\(aqs new
.TP
\fB\-\-n\fP \fIint\fP
number (default 4)
.SH "FILES"
One.
.SH "ENVIRONMENT"
Set in the environment.
.SH "EXIT STATUS"
1 badly.
.SH "SEE ALSO"
\fBsdm\fP(1), \fBgdb\fP(1)
`
	if got := page.Roff(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLinesAreShort(t *testing.T) {
	page := Page{Name: "sdm", Section: 7, Text: strings.Repeat("words 'of' a-b text. ", 40)}
	for line := range strings.Lines(page.Roff()) {
		if len(line) > maxLine+1 {
			t.Errorf("%d bytes: %s", len(line), line)
		}
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, "..") {
			t.Errorf("taken for a macro: %s", line)
		}
	}
}
