package job

import (
	"strings"
	"testing"
)

// TestInject fills in templates and compares them as their starters will split them.
func TestInject(t *testing.T) {
	plain, odd := []string{"--a", "b=1"}, []string{"--a", "two words", ""}
	for _, c := range []struct {
		template string
		args     []string
		fits     bool
		want     string
	}{
		{"--tool {daemon} {args} -x", plain, true, "[--tool][/bin/d d][--a][b=1][-x]"},
		{"--tool {daemon} {args}", odd, true, "[--tool][/bin/d d][--a][two words][]"},
		{"--tool {daemon} --tool-arguments \"{args}\"", plain, true, "[--tool][/bin/d d][--tool-arguments][--a b=1]"},
		{"--tool={daemon} --with='{args}'", odd, false, "[--tool=/bin/d d][--with=--a two words ]"},
		{"openmpi", plain, false, "[--mca][orte_debugger_test_daemon][/bin/d d]"},
	} {
		template, err := readTemplate(c.template)
		if err != nil {
			t.Errorf("%s: %v", c.template, err)
			continue
		}
		if got := fits(template, c.args); got != c.fits {
			t.Errorf("%s fits %q: %v", c.template, c.args, got)
		}
		if got := "[" + strings.Join(inject(template, "/bin/d d", c.args), "][") + "]"; got != c.want {
			t.Errorf("%s: %s, want %s", c.template, got, c.want)
		}
	}
}

func TestTemplateIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"--tool {args}":    "--starter-args --tool {args}: it has no {daemon}",
		"--tool '{daemon}": "a quotation does not end",
	} {
		if err := CheckTemplate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if err := CheckTemplate("openmpi"); err != nil {
		t.Error(err)
	}
}
