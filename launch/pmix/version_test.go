package pmix

import (
	"strings"
	"testing"
	"time"
)

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]Version{
		"5.0.7a1": {5, 0, 7}, "v7.0.0rc1": {7, 0, 0}, "OpenPMIx 4.2.2 (PMIx Standard: 4.1, ABI 0.0)": {4, 2, 2}, "6.1": {6, 1, 0},
	} {
		if got, err := ParseVersion(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if v, err := ParseVersion("master"); err == nil || v.IsKnown() {
		t.Error(v)
	}
}

func TestReaches(t *testing.T) {
	old, five, seven := Version{4, 2, 2}, Version{5, 0, 7}, Version{7, 0, 0}
	for _, library := range []Version{old, five} {
		for _, server := range []Version{old, five, seven, {}} {
			if err := library.Reaches(server); err != nil {
				t.Error(err)
			}
		}
	}
	if seven.Reaches(five) == nil || seven.Reaches(old) == nil || seven.Reaches(seven) != nil {
		t.Error("7.0 reaches 7.0 only")
	}
}

func TestDirectives(t *testing.T) {
	five, seven := Version{5, 0, 7}, Version{7, 0, 0}
	for name, c := range map[string]struct {
		d    Directives
		stop Stop
		v    Version
		want string // part of the error; "": none
	}{
		"nothing":            {Directives{}, InInit, five, ""},
		"words":              {Directives{MapBy: "ppr:2:node:oversubscribe", RankBy: "slot", BindTo: "core:overload-allowed", Hosts: "n0:4,n1"}, InInit, five, ""},
		"pe":                 {Directives{MapBy: "slot:pe=2"}, InInit, five, ""},
		"unknown word":       {Directives{MapBy: "socket"}, InInit, seven, `map by "socket"`},
		"unknown modifier":   {Directives{BindTo: "core:always"}, InInit, five, `unknown modifier "always"`},
		"pe of binding":      {Directives{BindTo: "core:pe=2"}, InInit, five, "unknown modifier"},
		"short ppr":          {Directives{MapBy: "ppr:2"}, InInit, five, "ppr:N:PLACE"},
		"ppr of nothing":     {Directives{MapBy: "ppr:0:node"}, InInit, five, "ppr:N:PLACE"},
		"ppr of ranks":       {Directives{RankBy: "ppr:1:node"}, InInit, five, "rank by"},
		"empty word":         {Directives{RankBy: ":"}, InInit, five, "rank by"},
		"hosts":              {Directives{Hosts: "n0;n1"}, InInit, five, "hosts"},
		"exec":               {Directives{}, OnExec, five, "pmix.dbg.exec"},
		"exec on 7":          {Directives{}, OnExec, seven, ""},
		"nodes":              {Directives{AllocNodes: 2}, InInit, seven, "--alloc-nodes (pmix.alloc.nnodes)"},
		"time":               {Directives{AllocTime: time.Hour}, InInit, five, "--alloc-time (pmix.alloc.time)"},
		"unknown server":     {Directives{}, OnExec, Version{}, "pmix.dbg.exec"},
		"negative resources": {Directives{AllocNodes: -1}, InInit, seven, "--alloc-nodes"},
	} {
		err := c.d.Check(c.stop, c.v)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestDirectiveInfos(t *testing.T) {
	job, app := Directives{MapBy: "slot", Hosts: "n0", AllocNodes: 2, AllocTime: 90 * time.Second}.Infos()
	if v, _ := Find(job, MapBy); v.Text != "slot" {
		t.Error(job)
	}
	if v, _ := Find(job, AllocNodes); v.Type != Uint64 || v.Number != 2 {
		t.Error(job)
	}
	if v, _ := Find(job, AllocTime); v.Type != Uint32 || v.Number != 90 {
		t.Error(job)
	}
	if v, found := Find(app, Hosts); !found || v.Text != "n0" || len(job) != 3 {
		t.Error(job, app)
	}
}
