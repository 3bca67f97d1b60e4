"""dequantise_gguf.py MODEL.gguf OUT.gguf: the same model and metadata with every tensor in f32."""

import sys

import numpy as np
from gguf import GGUFReader, GGUFValueType, GGUFWriter, dequantize

source, target = sys.argv[1:]
reader = GGUFReader(source)
writer = GGUFWriter(target, reader.fields["general.architecture"].contents())
for name, field in reader.fields.items():
    if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
        continue
    kind = field.types[0]
    inner = field.types[-1] if kind == GGUFValueType.ARRAY else None
    writer.add_key_value(name, field.contents(), kind, sub_type=inner)
writer.add_file_type(0)
for tensor in reader.tensors:
    values = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
    writer.add_tensor(tensor.name, np.ascontiguousarray(values.reshape(tuple(reversed(tensor.shape.tolist())))))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
