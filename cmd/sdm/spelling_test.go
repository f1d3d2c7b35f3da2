package main

import (
	"slices"
	"testing"
)

func TestRespell(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, want []string
	}{
		{"alone", []string{"-np", "4", "./app"}, []string{"--np", "4", "./app"}},
		{"with equals", []string{"-np=4", "./app"}, []string{"--np=4", "./app"}},
		{"after a value", []string{"-x", "-np", "-np", "4"}, []string{"-x", "-np", "--np", "4"}},
		{"after a switch", []string{"-b", "-np", "4"}, []string{"-b", "--np", "4"}},
		{"the program's own", []string{"-n", "2", "./app", "-np", "3"}, []string{"-n", "2", "./app", "-np", "3"}},
		{"after --", []string{"--", "-np", "3"}, []string{"--", "-np", "3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := respell(newRunOptions(nil).flags().FlagSet, c.in); !slices.Equal(got, c.want) {
				t.Errorf("respell(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}
