package firnv1_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
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

// TestSchemaGrowsFails shows that the check finds changes by which programs break, and allows additions.
func TestSchemaGrowsFails(t *testing.T) {
	type file = descriptorpb.FileDescriptorProto
	message := func(f *file, name string) *descriptorpb.DescriptorProto {
		i := slices.IndexFunc(f.MessageType, func(m *descriptorpb.DescriptorProto) bool { return m.GetName() == name })
		return f.MessageType[i]
	}
	before := facts(firnv1.File_firn_v1_firn_proto)
	for _, v := range []struct {
		name   string
		change func(f *file)
		lost   string // the start of a fact; "" for none
	}{
		{"nothing", func(*file) {}, ""},
		{"a field is added", func(f *file) {
			m := message(f, "Batch")
			added := proto.CloneOf(m.Field[0])
			added.Name, added.JsonName, added.Number = new("more"), nil, proto.Int32(7)
			m.Field = append(m.Field, added)
		}, ""},
		{"a method is added", func(f *file) {
			added := proto.CloneOf(f.Service[0].Method[0])
			added.Name = new("More")
			f.Service[0].Method = append(f.Service[0].Method, added)
		}, ""},
		{"a field has another number", func(f *file) { message(f, "Batch").Field[4].Number = proto.Int32(9) }, "field firn.v1.Batch packed = 5"},
		{"a field has another name", func(f *file) {
			message(f, "Batch").Field[4].Name, message(f, "Batch").Field[4].JsonName = new("ids"), nil
		}, "field firn.v1.Batch packed"},
		{"a field has another name in JSON", func(f *file) { message(f, "Batch").Field[2].JsonName = new("order") }, "field firn.v1.Batch byte_order"},
		{"a field has another type", func(f *file) {
			message(f, "Batch").Field[1].Type = descriptorpb.FieldDescriptorProto_TYPE_UINT64.Enum()
		}, "field firn.v1.Batch width"},
		{"a field has another message", func(f *file) {
			message(f, "Generator").Field[3].TypeName = new(".google.protobuf.Duration")
		}, "field firn.v1.Generator epoch"},
		{"a field is removed", func(f *file) { message(f, "Batch").Field = message(f, "Batch").Field[1:] }, "field firn.v1.Batch format"},
		{"a field is repeated no more", func(f *file) {
			message(f, "Batch").Field[5].Label = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
		}, "field firn.v1.Batch texts"},
		{"a field is optional no more", func(f *file) {
			m := message(f, "TakeRequest")
			m.Field[1].Proto3Optional, m.Field[1].OneofIndex, m.OneofDecl = nil, nil, nil
		}, "field firn.v1.TakeRequest count"},
		{"a message is removed", func(f *file) {
			message(f, "InspectResponse").Field = nil
			f.MessageType = slices.DeleteFunc(f.MessageType, func(m *descriptorpb.DescriptorProto) bool { return m.GetName() == "Candidate" })
		}, "message firn.v1.Candidate"},
		{"a value has another number", func(f *file) { f.EnumType[0].Value[2].Number = proto.Int32(3) }, "value firn.v1.Encoding ENCODING_TEXT"},
		{"a value has another name", func(f *file) { f.EnumType[0].Value[2].Name = new("ENCODING_TEXTS") }, "value firn.v1.Encoding ENCODING_TEXT"},
		{"a method is removed", func(f *file) { f.Service[0].Method = f.Service[0].Method[1:] }, "method firn.v1.Firn.Take"},
		{"a method has another name", func(f *file) { f.Service[0].Method[0].Name = new("Get") }, "method firn.v1.Firn.Take"},
		{"a method streams", func(f *file) { f.Service[0].Method[0].ServerStreaming = new(true) }, "method firn.v1.Firn.Take"},
		{"a method has another answer", func(f *file) { f.Service[0].Method[3].OutputType = new(".firn.v1.Batch") }, "method firn.v1.Firn.List"},
		{"the service has another name", func(f *file) { f.Service[0].Name = new("IDs") }, "service firn.v1.Firn"},
		{"Go's package has another path", func(f *file) { f.Options.GoPackage = new("example.com/v1") }, "go_package"},
	} {
		changed := protodesc.ToFileDescriptorProto(firnv1.File_firn_v1_firn_proto)
		v.change(changed)
		file, err := protodesc.NewFile(changed, protoregistry.GlobalFiles)
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		lost, _ := compare(before, facts(file))
		found := slices.ContainsFunc(lost, func(f string) bool { return strings.HasPrefix(f, v.lost) })
		if v.lost == "" && len(lost) > 0 || v.lost != "" && !found {
			t.Errorf("%s: lost %q", v.name, lost)
		}
	}
}
