package firnv1_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/firn-id/firn/server/firnv1"
)

var update = flag.Bool("update", false, "add what is new to testdata/schema.txt")

const released = "testdata/schema.txt"

// facts returns the facts that programs rely on, a line for each. A change of a fact breaks a program.
func facts(file protoreflect.FileDescriptor) []string {
	all := []string{
		fmt.Sprintf("file %s, package %s, syntax %s", file.Path(), file.Package(), file.Syntax()),
		fmt.Sprintf("go_package %s", file.Options().(*descriptorpb.FileOptions).GetGoPackage()),
		fmt.Sprintf("java_multiple_files %t", file.Options().(*descriptorpb.FileOptions).GetJavaMultipleFiles()),
	}
	all = slices.Concat(all, messages(file.Messages()), enums(file.Enums()))
	for i := range file.Services().Len() {
		s := file.Services().Get(i)
		all = append(all, fmt.Sprintf("service %s", s.FullName()))
		for j := range s.Methods().Len() {
			m := s.Methods().Get(j)
			all = append(all, fmt.Sprintf("method %s(%s%s) returns (%s%s)", m.FullName(),
				stream(m.IsStreamingClient()), m.Input().FullName(), stream(m.IsStreamingServer()), m.Output().FullName()))
		}
	}
	return all
}

func stream(yes bool) string {
	if yes {
		return "stream "
	}
	return ""
}

func messages(list protoreflect.MessageDescriptors) []string {
	var all []string
	for i := range list.Len() {
		m := list.Get(i)
		all = append(all, fmt.Sprintf("message %s", m.FullName()))
		for j := range m.Fields().Len() {
			all = append(all, field(m.Fields().Get(j)))
		}
		all = slices.Concat(all, messages(m.Messages()), enums(m.Enums()))
	}
	return all
}

func field(f protoreflect.FieldDescriptor) string {
	of := f.Kind().String()
	switch {
	case f.Message() != nil:
		of = string(f.Message().FullName())
	case f.Enum() != nil:
		of = string(f.Enum().FullName())
	}
	line := fmt.Sprintf("field %s %s = %d, %s, json %s", f.Parent().FullName(), f.Name(), f.Number(), of, f.JSONName())
	if f.IsList() {
		line += fmt.Sprintf(", repeated, packed %t", f.IsPacked())
	}
	if f.HasOptionalKeyword() {
		line += ", optional"
	}
	if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
		line += fmt.Sprintf(", oneof %s", o.Name())
	}
	return line
}

func enums(list protoreflect.EnumDescriptors) []string {
	var all []string
	for i := range list.Len() {
		e := list.Get(i)
		all = append(all, fmt.Sprintf("enum %s", e.FullName()))
		for j := range e.Values().Len() {
			all = append(all, fmt.Sprintf("value %s %s = %d", e.FullName(), e.Values().Get(j).Name(), e.Values().Get(j).Number()))
		}
	}
	return all
}

// compare returns the facts that were released and hold no more, and the facts that are new.
func compare(before, now []string) (lost, added []string) {
	for _, f := range before {
		if !slices.Contains(now, f) {
			lost = append(lost, f)
		}
	}
	for _, f := range now {
		if !slices.Contains(before, f) {
			added = append(added, f)
		}
	}
	return lost, added
}

func readReleased(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(released)
	if err != nil && !*update {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' || r == '\r' })
}

// TestSchemaGrows holds the schema to what was released. With -update, TestSchemaGrows adds what is new, and still fails
// if anything is missing.
func TestSchemaGrows(t *testing.T) {
	before := readReleased(t)
	lost, added := compare(before, facts(firnv1.File_firn_v1_firn_proto))
	for _, f := range lost {
		t.Errorf("no longer true: %s", f)
	}
	switch {
	case len(lost) > 0:
		t.Errorf("programs of users rely on each line of %s: restore what was there, and add a field, a value, a message or a method beside it", released)
	case len(added) == 0:
	case *update:
		if err := os.WriteFile(released, []byte(strings.Join(append(before, added...), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("new in the schema:\n%s\nadd the lines to %s by go test ./firnv1 -run TestSchemaGrows -update", strings.Join(added, "\n"), released)
	}
}
