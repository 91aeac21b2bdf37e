"""grpc_test.py - KServe over gRPC, asked by Debian's grpcio with classes that protoc makes from serve/proto."""
import importlib, struct, threading
from multiprocessing import shared_memory
from support import *

try:
    import grpc
except ImportError:
    grpc = None


def stubs(folder):
    subprocess.run(["protoc", "--proto_path=" + os.path.join(ROOT, "serve", "proto"), "--python_out=" + folder, "inference.proto"], check=True)
    sys.path.insert(0, folder)
    os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = os.environ.get("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
    return importlib.import_module("inference_pb2")


class Client:
    def __init__(self, server, pb):
        self.channel = grpc.insecure_channel(f"localhost:{server.port}")
        self.pb = pb

    def call(self, name, request, response, **more):
        path = "/inference.GRPCInferenceService/" + name
        return self.channel.unary_unary(path, request_serializer=lambda m: m.SerializeToString(), response_deserializer=response.FromString)(request, timeout=20, **more)

    def stream(self, requests):
        path = "/inference.GRPCInferenceService/ModelStreamInfer"
        return self.channel.stream_stream(path, request_serializer=lambda m: m.SerializeToString(), response_deserializer=self.pb.ModelStreamInferResponse.FromString)(requests, timeout=20)


PB = []


def pb_of(folder):
    if not PB:
        keep = tempfile.mkdtemp()
        PB.append(stubs(keep))
    return PB[0]


def request(pb, rows=1, value=0.5, raw=False, **more):
    r = pb.ModelInferRequest(model_name="digits", **more)
    t = r.inputs.add(name="image", datatype="FP32", shape=[rows, 1, 8, 8])
    data = [value * (i % 7) / 7 for i in range(64 * rows)]
    if raw:
        r.raw_input_contents.append(struct.pack(f"<{len(data)}f", *data))
    else:
        t.contents.fp32_contents.extend(data)
    return r


def numbers(response):
    return struct.unpack(f"<{len(response.raw_output_contents[0]) // 4}f", response.raw_output_contents[0])


def test_calls(folder):
    pb = pb_of(folder)
    with Server(DIGITS, "--shared-memory") as s:
        c = Client(s, pb)
        assert c.call("ServerLive", pb.ServerLiveRequest(), pb.ServerLiveResponse).live
        assert c.call("ServerReady", pb.ServerReadyRequest(), pb.ServerReadyResponse).ready
        assert c.call("ModelReady", pb.ModelReadyRequest(name="digits"), pb.ModelReadyResponse).ready
        assert c.call("ServerMetadata", pb.ServerMetadataRequest(), pb.ServerMetadataResponse).name == "hologram"
        facts = c.call("ModelMetadata", pb.ModelMetadataRequest(name="digits"), pb.ModelMetadataResponse)
        assert facts.inputs[0].name == "image" and list(facts.inputs[0].shape) == [-1, 1, 8, 8] and facts.outputs[0].datatype == "FP32"
        assert [m.state for m in c.call("RepositoryIndex", pb.RepositoryIndexRequest(), pb.RepositoryIndexResponse).models] == ["READY"]
        plain = c.call("ModelInfer", request(pb, id="me"), pb.ModelInferResponse)
        raw = c.call("ModelInfer", request(pb, raw=True), pb.ModelInferResponse)
        assert plain.id == "me" and list(plain.outputs[0].shape) == [1, 10] and numbers(plain) == numbers(raw)
        data = [0.5 * (i % 7) / 7 for i in range(64)]
        http = s.json("POST", "/v2/models/digits/infer", {"inputs": [{"name": "image", "shape": [1, 1, 8, 8], "datatype": "FP32", "data": data}]})
        assert all(abs(a - b) < 1e-6 for a, b in zip(numbers(plain), http["outputs"][0]["data"]))
        region = shared_memory.SharedMemory(create=True, size=512)
        try:
            struct.pack_into("<64f", region.buf, 0, *data)
            c.call("SystemSharedMemoryRegister", pb.SystemSharedMemoryRegisterRequest(name="r", key=region.name, byte_size=512), pb.SystemSharedMemoryRegisterResponse)
            status = c.call("SystemSharedMemoryStatus", pb.SystemSharedMemoryStatusRequest(), pb.SystemSharedMemoryStatusResponse)
            assert status.regions["r"].byte_size == 512
            r = pb.ModelInferRequest(model_name="digits")
            t = r.inputs.add(name="image", datatype="FP32", shape=[1, 1, 8, 8])
            t.parameters["shared_memory_region"].string_param = "r"
            t.parameters["shared_memory_byte_size"].int64_param = 256
            o = r.outputs.add(name="probabilities")
            o.parameters["shared_memory_region"].string_param = "r"
            o.parameters["shared_memory_offset"].int64_param = 256
            o.parameters["shared_memory_byte_size"].int64_param = 40
            c.call("ModelInfer", r, pb.ModelInferResponse)
            assert struct.unpack_from("<10f", region.buf, 256) == numbers(plain)
        finally:
            region.close()
            region.unlink()


def test_errors(folder):
    pb = pb_of(folder)
    with Server(DIGITS) as s:
        c = Client(s, pb)
        code = grpc.StatusCode
        wrong = request(pb)
        wrong.inputs[0].shape[0] = 2
        other = request(pb)
        other.model_name = "other"
        cases = [(wrong, code.INVALID_ARGUMENT, "shape"), (other, code.NOT_FOUND, "no model"), (pb.ModelInferRequest(model_name="digits"), code.INVALID_ARGUMENT, "missing")]
        for message, status, words in cases:
            try:
                c.call("ModelInfer", message, pb.ModelInferResponse)
                raise AssertionError("it was answered")
            except grpc.RpcError as e:
                assert e.code() == status and words in e.details(), (e.code(), e.details())
        try:
            c.call("Nothing", pb.ServerLiveRequest(), pb.ServerLiveResponse)
            raise AssertionError("it was answered")
        except grpc.RpcError as e:
            assert e.code() == code.UNIMPLEMENTED and e.details() == "there is no such call", (e.code(), e.details())


def test_streams(folder):
    pb = pb_of(folder)
    with Server(DIGITS) as s:
        c = Client(s, pb)
        want = {str(i): numbers(c.call("ModelInfer", request(pb, value=i / 10), pb.ModelInferResponse)) for i in range(20)}
        bad = request(pb)
        bad.inputs[0].name = "other"
        got = {}
        errors = 0
        for answer in c.stream(iter([request(pb, value=i / 10, id=str(i)) for i in range(20)] + [bad])):
            if answer.error_message:
                errors += 1
                assert "no input 'other'" in answer.error_message
            else:
                got[answer.infer_response.id] = numbers(answer.infer_response)
        assert errors == 1 and got.keys() == want.keys()
        assert all(abs(a - b) < 1e-5 for k in want for a, b in zip(want[k], got[k]))
        # One that waits for each answer before the next request.
        arrived, ready = [], threading.Semaphore(1)

        def one_by_one():
            for i in range(5):
                assert ready.acquire(timeout=10)
                yield request(pb, id=str(i))

        for answer in c.stream(one_by_one()):
            arrived.append(answer.infer_response.id)
            ready.release()
        assert arrived == ["0", "1", "2", "3", "4"]
        # Many at once, over one connection.
        results = at_once(32, lambda i: numbers(c.call("ModelInfer", request(pb, rows=3, value=i % 20 / 10), pb.ModelInferResponse))[:10])
        assert all(abs(a - b) < 1e-5 for i, r in enumerate(results) for a, b in zip(r, want[str(i % 20)]))


if __name__ == "__main__":
    if grpc:
        main(globals())
    else:
        print("grpc_test.py: skipped: there is no grpcio (Debian: python3-grpcio)")
