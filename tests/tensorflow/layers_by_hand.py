"""Small models of layers that TensorFlow.js lacks, with answers from the definitions of Keras: see layers.py."""
import math


def functional(layers, inputs, output):
    """layers: (class, name, config, names of inputs)."""
    made = [{"class_name": "InputLayer", "name": n, "config": {"name": n, "batch_input_shape": [None, *s], "dtype": "float32"}, "inbound_nodes": []} for n, s in inputs]
    made += [{"class_name": k, "name": n, "config": {"name": n, **c}, "inbound_nodes": [[[i, 0, 0, {}] for i in ins]]} for k, n, c, ins in layers]
    return {"class_name": "Model", "config": {"name": "m", "layers": made, "input_layers": [[n, 0, 0] for n, _ in inputs], "output_layers": [[output, 0, 0]]}}


def by_hand(layer, config, inputs, weights, shape, answer):
    topology = functional([(layer, "y", config, [n for n, _, _ in inputs])], [(n, s[1:]) for n, s, _ in inputs], "y")
    return {"topology": topology, "weights": [[f"y/{n}", s, v] for n, s, v in weights], "inputs": inputs, "outputs": [["y", shape, answer]]}


X = ["x", [1, 3], [1.0, 2.0, -1.0]]
ONE, OTHER = math.exp(math.tanh(1) + math.tanh(3)), math.exp(math.tanh(2) + math.tanh(2))
RMS = math.sqrt(2 + 1e-6)
BY_HAND = {
    "einsum_dense": by_hand("EinsumDense", {"equation": "ab,bc->ac", "bias_axes": "c", "activation": "relu"}, [X],
                            [["kernel", [3, 2], [1.0, 0.0, 0.0, 1.0, 1.0, -5.0]], ["bias", [2], [0.5, -9.0]]], [1, 2], [0.5, 0.0]),
    "additive_attention": by_hand("AdditiveAttention", {"use_scale": True}, [["q", [1, 1, 2], [1.0, 2.0]], ["v", [1, 2, 2], [0.0, 1.0, 1.0, 0.0]]],
                                  [["scale", [2], [1.0, 1.0]]], [1, 1, 2], [OTHER / (ONE + OTHER), ONE / (ONE + OTHER)]),
    "attention_backwards_alone": by_hand("Attention", {"use_scale": False, "causal": True}, [["q", [1, 2, 1], [1.0, 1.0]], ["v", [1, 2, 1], [0.0, 2.0]]], [], [1, 2, 1],
                                         [0.0, 2 * math.exp(2) / (1 + math.exp(2))]),
    "rms_normalization": by_hand("RMSNormalization", {"axis": -1, "epsilon": 1e-6}, [X], [["scale", [3], [1.0, 2.0, 3.0]]], [1, 3], [1 / RMS, 4 / RMS, -3 / RMS]),
    "categories": by_hand("CategoryEncoding", {"num_tokens": 4, "output_mode": "count"}, [["x", [1, 3], [1.0, 3.0, 1.0]]], [], [1, 4], [0.0, 2.0, 0.0, 1.0]),
    "categories_at_once": by_hand("CategoryEncoding", {"num_tokens": 4, "output_mode": "multi_hot"}, [["x", [1, 3], [1.0, 3.0, 1.0]]], [], [1, 4], [0.0, 1.0, 0.0, 1.0]),
    "bins": by_hand("Discretization", {"bin_boundaries": [-1.0, 0.5, 2.0], "output_mode": "int"}, [X], [], [1, 3], [2, 3, 1]),
    "numbers_looked_up": by_hand("IntegerLookup", {"vocabulary": [7, 9], "num_oov_indices": 1, "mask_token": None, "output_mode": "int"},
                                 [["x", [1, 3], [9.0, 5.0, 7.0]]], [], [1, 3], [2, 0, 1]),
    "hashes": by_hand("Hashing", {"num_bins": 10}, [["x", [1, 2], [12.0, 7.0]]], [], [1, 2], [8, 8]),
}


# ---- each other name of the tables

def put(name, layer, config, shape, values, out, answer, weights=()):
    BY_HAND[name] = by_hand(layer, config, [["x", shape, values]], weights, out, answer)


def numbers(count, step=0.37):
    """Different numbers between -1 and 1."""
    return [round(math.sin(1 + step * n * n), 3) for n in range(count)]


FOUR = [1.0, -2.0, 3.0, 0.5]
for layer in ("ActivityRegularization", "Identity", "SpatialDropout2D", "SpatialDropout3D", "RandomFlip", "RandomRotation", "RandomZoom", "RandomTranslation", "RandomContrast", "RandomBrightness", "RandomCrop"):
    image = [1, 1, 2, 2, 1] if layer == "SpatialDropout3D" else [1, 2, 2, 1]
    put("same_" + layer, layer, {"rate": 0.5, "height": 2, "width": 2, "factor": 0.1}, image, FOUR, image, FOUR)
put("normalization", "Normalization", {"axis": [-1]}, [2, 2], FOUR, [2, 2], [0.0, -1.5, 1.0, -0.25], [["mean", [2], [1.0, 1.0]], ["variance", [2], [4.0, 4.0]]])
put("normalization_given", "Normalization", {"axis": -1, "mean": [1.0, 1.0], "variance": [4.0, 1.0]}, [2, 2], FOUR, [2, 2], [0.0, -3.0, 1.0, -0.5])
STATISTICS = [["gamma", [2], [2.0, 3.0]], ["beta", [2], [0.5, 0.0]], ["moving_mean", [2], [1.0, 0.0]], ["moving_variance", [2], [3.99, 0.99]]]
for layer in ("BatchNormalizationV1", "BatchNormalizationV2", "SyncBatchNormalization"):
    put(layer, layer, {"axis": [1], "epsilon": 0.01}, [1, 2, 2], FOUR, [1, 2, 2], [0.5, -2.5, 9.0, 1.5], STATISTICS)
BY_HAND["subtract"] = by_hand("Subtract", {}, [["a", [1, 2], [5.0, 1.0]], ["b", [1, 2], [2.0, 4.0]]], [], [1, 2], [3.0, -3.0])
put("unit", "UnitNormalization", {"axis": -1}, [1, 2, 2], [3.0, 4.0, -6.0, 8.0], [1, 2, 2], [0.6, 0.8, -0.6, 0.8])


def group_norm(x, steps, channels, groups, epsilon, gamma, beta):
    """x: [steps, channels]"""
    out, size = [0.0] * len(x), channels // groups
    for g in range(groups):
        places = [t * channels + c for t in range(steps) for c in range(g * size, (g + 1) * size)]
        mean = sum(x[p] for p in places) / len(places)
        variance = sum((x[p] - mean) ** 2 for p in places) / len(places)
        for p in places:
            out[p] = (x[p] - mean) / math.sqrt(variance + epsilon) * gamma[p % channels] + beta[p % channels]
    return out


GAMMA, BETA = [1.0, 2.0, 0.5, -1.0], [0.0, 0.1, 0.2, 0.3]
put("group_norm", "GroupNormalization", {"groups": 2, "axis": -1, "epsilon": 0.1}, [1, 3, 4], numbers(12), [1, 3, 4], group_norm(numbers(12), 3, 4, 2, 0.1, GAMMA, BETA), [["gamma", [4], GAMMA], ["beta", [4], BETA]])
put("group_norm_rows", "GroupNormalization", {"groups": 2, "axis": -1, "epsilon": 0.1}, [1, 4], numbers(4), [1, 4], group_norm(numbers(4), 1, 4, 2, 0.1, GAMMA, BETA), [["gamma", [4], GAMMA], ["beta", [4], BETA]])
put("group_norm_each", "GroupNormalization", {"groups": -1, "scale": False, "center": False, "epsilon": 0.1}, [1, 3, 4], numbers(12), [1, 3, 4], group_norm(numbers(12), 3, 4, 4, 0.1, [1.0] * 4, [0.0] * 4))

# images: what moves elements, by their places
CUBE = [float(n) for n in range(27)]
put("padding_1d", "ZeroPadding1D", {"padding": [1, 2]}, [1, 2, 2], FOUR, [1, 5, 2], [0.0, 0.0, *FOUR, 0.0, 0.0, 0.0, 0.0])
put("cropping_1d", "Cropping1D", {"cropping": [1, 0]}, [1, 2, 2], FOUR, [1, 1, 2], FOUR[2:])
put("up_sampling_1d", "UpSampling1D", {"size": 2}, [1, 2, 2], FOUR, [1, 4, 2], FOUR[:2] * 2 + FOUR[2:] * 2)
put("padding_3d", "ZeroPadding3D", {"padding": [[0, 1], [1, 0], [0, 0]]}, [1, 1, 1, 2, 1], [1.0, 2.0], [1, 2, 2, 2, 1], [0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0])
put("cropping_3d", "Cropping3D", {"cropping": [[1, 0], [0, 1], [1, 1]]}, [1, 3, 3, 3, 1], CUBE, [1, 2, 2, 1, 1], [10.0, 13.0, 19.0, 22.0])
put("up_sampling_3d", "UpSampling3D", {"size": [1, 2, 2]}, [1, 1, 1, 2, 1], [1.0, 2.0], [1, 1, 2, 4, 1], [1.0, 1.0, 2.0, 2.0] * 2)
put("global_max_3d", "GlobalMaxPooling3D", {}, [1, 3, 3, 3, 1], CUBE, [1, 1], [26.0])
put("global_average_3d", "GlobalAveragePooling3D", {"keepdims": True}, [1, 3, 3, 3, 1], CUBE, [1, 1, 1, 1, 1], [13.0])
put("center_crop", "CenterCrop", {"height": 1, "width": 2}, [1, 3, 4, 1], CUBE[:12], [1, 1, 2, 1], [5.0, 6.0])
put("resizing", "Resizing", {"height": 1, "width": 3, "interpolation": "nearest"}, [1, 1, 6, 1], CUBE[:6], [1, 1, 3, 1], [0.0, 3.0, 5.0])
put("resizing_bilinear", "Resizing", {"height": 1, "width": 3, "interpolation": "bilinear"}, [1, 1, 5, 1], CUBE[:5], [1, 1, 3, 1], [0.0, 2.0, 4.0])


# ---- windows of one dimension; numbers and kernels are lists of rows

def rows(values, width):
    return [values[n : n + width] for n in range(0, len(values), width)]


def depthwise_1d(x, kernel, many, stride, dilation=1):
    """x: [time, channels], kernel: [size, channels * many]; without padding"""
    size, channels = (len(kernel) - 1) * dilation + 1, len(x[0])
    return [[sum(x[t + k * dilation][c // many] * kernel[k][c] for k in range(len(kernel))) for c in range(channels * many)] for t in range(0, len(x) - size + 1, stride)]


def flat(table):
    return [v for row in table for v in row]


DEEP, MIX = rows(numbers(12, 0.21), 4), rows(numbers(12, 0.53), 3)
LINE = rows(numbers(14), 2)
deep = depthwise_1d(LINE, DEEP, 2, 2)
put("depthwise_1d", "DepthwiseConv1D", {"kernel_size": [3], "strides": [2], "padding": "valid", "depth_multiplier": 2, "use_bias": True}, [1, 7, 2], flat(LINE), [1, 3, 4],
    [v + b for row in deep for v, b in zip(row, BETA)], [["depthwise_kernel", [3, 2, 2], flat(DEEP)], ["bias", [4], BETA]])
put("separable_1d", "SeparableConv1D", {"kernel_size": [3], "strides": [2], "padding": "valid", "depth_multiplier": 2, "filters": 3, "use_bias": False, "activation": "relu"}, [1, 7, 2], flat(LINE), [1, 3, 3],
    [max(0.0, sum(v * MIX[c][o] for c, v in enumerate(row))) for row in deep for o in range(3)], [["depthwise_kernel", [3, 2, 2], flat(DEEP)], ["pointwise_kernel", [1, 4, 3], flat(MIX)]])
TURNED = [0.0] * 7  # the kernel is [size, filters, channels]
for t in range(3):
    for k in range(3):
        TURNED[2 * t + k] += sum(LINE[t][c] * numbers(6, 0.9)[2 * k + c] for c in range(2))
put("transposed_1d", "Conv1DTranspose", {"kernel_size": [3], "strides": [2], "padding": "valid", "filters": 1, "use_bias": True}, [1, 3, 2], flat(LINE[:3]), [1, 7, 1], [v + 0.5 for v in TURNED], [["kernel", [3, 1, 2], numbers(6, 0.9)], ["bias", [1], [0.5]]])
put("convolution_of_old", "Convolution2D", {"kernel_size": [1, 2], "strides": [1, 1], "padding": "valid", "filters": 1, "use_bias": False}, [1, 1, 3, 1], [1.0, 2.0, 3.0], [1, 1, 2, 1], [21.0, 32.0], [["kernel", [1, 2, 1, 1], [1.0, 10.0]]])
put("causal", "Conv1D", {"kernel_size": [2], "strides": [1], "padding": "causal", "dilation_rate": [2], "filters": 1, "use_bias": False}, [1, 4, 1], FOUR, [1, 4, 1], [10.0, -20.0, 31.0, 3.0], [["kernel", [2, 1, 1], [1.0, 10.0]]])
put("grouped", "Conv1D", {"kernel_size": [1], "strides": [1], "padding": "valid", "groups": 2, "filters": 2, "use_bias": False}, [1, 2, 4], FOUR + FOUR, [1, 2, 2], [-19.0, 800.0] * 2, [["kernel", [1, 2, 2], [1.0, 100.0, 10.0, 1000.0]]])


# ---- attention of two heads

def softmax(row):
    e = [math.exp(v - max(row)) for v in row]
    return [v / sum(e) for v in e]


def heads(query, value, w, size, causal):
    """query, value: rows of two; w: kernels [2, 2, size] of query, key and value, [2, size, 2] of the output; biases"""
    out = [[w["out_bias"][d] for d in range(2)] for _ in query]
    project = lambda x, name, h: [[sum(r[d] * w[name][(d * 2 + h) * size + k] for d in range(2)) + w[name + "_bias"][h * size + k] for k in range(size)] for r in x]
    for h in range(2):
        q, k, v = project(query, "query", h), project(value, "key", h), project(value, "value", h)
        for i, row in enumerate(q):
            share = softmax([sum(a * b for a, b in zip(row, key)) / math.sqrt(size) if not causal or n <= i else -1e9 for n, key in enumerate(k)])
            for d in range(2):
                out[i][d] += sum(s * sum(v[n][c] * w["out"][(h * size + c) * 2 + d] for c in range(size)) for n, s in enumerate(share))
    return flat(out)


MANY = {"query": numbers(12), "key": numbers(12, 0.7), "value": numbers(12, 0.9), "out": numbers(12, 1.1), "query_bias": numbers(6, 0.2), "key_bias": numbers(6, 0.3), "value_bias": numbers(6, 0.4), "out_bias": [0.5, -0.5]}
WEIGHTS = [[f"{part}/kernel", [2, 2, 3], MANY[part]] for part in ("query", "key", "value")] + [[f"{part}/bias", [2, 3], MANY[part + "_bias"]] for part in ("query", "key", "value")]
WEIGHTS = [w for pair in zip(WEIGHTS[:3], WEIGHTS[3:]) for w in pair] + [["attention_output/kernel", [2, 3, 2], MANY["out"]], ["attention_output/bias", [2], MANY["out_bias"]]]
for causal in (False, True):
    case = BY_HAND["heads_causal" if causal else "heads"] = by_hand("MultiHeadAttention", {"num_heads": 2, "key_dim": 3, "value_dim": 3, "use_bias": True}, [["q", [1, 3, 2], numbers(6, 0.6)], ["v", [1, 3, 2], numbers(6, 0.8)]], WEIGHTS, [1, 3, 2],
                                                                    heads(rows(numbers(6, 0.6), 2), rows(numbers(6, 0.8), 2), MANY, 3, causal))
    case["topology"]["config"]["layers"][-1]["inbound_nodes"] = [[["q", 0, 0, {"value": ["v", 0, 0], "use_causal_mask": causal}]]]


# ---- layers that go through time

def sigmoid(v):
    return 1 / (1 + math.exp(-v))


def lstm(x, kernel, recurrent, bias, units):
    h, c = [0.0] * units, [0.0] * units
    for row in x:
        z = [bias[n] + sum(v * kernel[k][n] for k, v in enumerate(row)) + sum(v * recurrent[k][n] for k, v in enumerate(h)) for n in range(4 * units)]
        c = [sigmoid(z[units + n]) * c[n] + sigmoid(z[n]) * math.tanh(z[2 * units + n]) for n in range(units)]
        h = [sigmoid(z[3 * units + n]) * math.tanh(c[n]) for n in range(units)]
    return h


KERNEL, AGAIN, BOTH = rows(numbers(16), 8), rows(numbers(16, 0.71), 8), numbers(16, 0.33)
put("cudnn_lstm", "CuDNNLSTM", {"units": 2}, [1, 3, 2], numbers(6, 0.5), [1, 2], lstm(rows(numbers(6, 0.5), 2), KERNEL, AGAIN, [a + b for a, b in zip(BOTH[:8], BOTH[8:])], 2),
    [["kernel", [2, 8], flat(KERNEL)], ["recurrent_kernel", [2, 8], flat(AGAIN)], ["bias", [16], BOTH]])


def gru(x, kernel, recurrent, bias, units):
    """The form of cuDNN: the states have a bias of their own, which the reset gate sees."""
    h = [0.0] * units
    for row in x:
        a = [bias[n] + sum(v * kernel[k][n] for k, v in enumerate(row)) for n in range(3 * units)]
        b = [bias[3 * units + n] + sum(v * recurrent[k][n] for k, v in enumerate(h)) for n in range(3 * units)]
        z, r = ([sigmoid(a[g * units + n] + b[g * units + n]) for n in range(units)] for g in range(2))
        h = [z[n] * h[n] + (1 - z[n]) * math.tanh(a[2 * units + n] + r[n] * b[2 * units + n]) for n in range(units)]
    return h


KERNEL, AGAIN, BOTH = rows(numbers(12), 6), rows(numbers(12, 0.71), 6), numbers(12, 0.33)
put("cudnn_gru", "CuDNNGRU", {"units": 2}, [1, 3, 2], numbers(6, 0.5), [1, 2], gru(rows(numbers(6, 0.5), 2), KERNEL, AGAIN, BOTH, 2),
    [["kernel", [2, 6], flat(KERNEL)], ["recurrent_kernel", [2, 6], flat(AGAIN)], ["bias", [12], BOTH]])


def conv_lstm(steps, kernel, recurrent, bias):
    """A line of numbers in each step, one filter, windows of 2 with the same size: the last is 0 behind the end."""
    size = len(steps[0])
    h, c = [0.0] * size, [0.0] * size
    window = lambda x, w, g, p: x[p] * w[g] + (x[p + 1] * w[4 + g] if p + 1 < size else 0.0)
    for x in steps:
        z = [[window(x, kernel, g, p) + window(h, recurrent, g, p) + bias[g] for g in range(4)] for p in range(size)]
        c = [sigmoid(z[p][1]) * c[p] + sigmoid(z[p][0]) * math.tanh(z[p][2]) for p in range(size)]
        h = [sigmoid(z[p][3]) * math.tanh(c[p]) for p in range(size)]
    return h


for dims in (1, 3):  # the other dimensions of a volume are 1 wide
    ones = [1] * (dims - 1)
    put(f"conv_lstm_{dims}d", f"ConvLSTM{dims}D", {"filters": 1, "kernel_size": ones + [2], "strides": [1] * dims, "padding": "same", "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True, "return_sequences": False},
        [1, 2, *ones, 3, 1], numbers(6, 0.5), [1, *ones, 3, 1], conv_lstm(rows(numbers(6, 0.5), 3), numbers(8), numbers(8, 0.7), BETA),
        [["kernel", [*ones, 2, 1, 4], numbers(8)], ["recurrent_kernel", [*ones, 2, 1, 4], numbers(8, 0.7)], ["bias", [4], BETA]])

BY_HAND["texts_looked_up"] = by_hand("StringLookup", {"vocabulary": ["cat", "dog"], "num_oov_indices": 1, "mask_token": None, "output_mode": "int"}, [["x", [1, 3], ["dog", "hen", "cat"]]], [], [1, 3], [2, 0, 1])
BY_HAND["texts_looked_up"]["topology"]["config"]["layers"][0]["config"]["dtype"] = "string"
put("resized_again", "Resizing", {"height": 2, "width": 2, "interpolation": "nearest", "crop_to_aspect_ratio": False}, [1, 4, 4, 1], CUBE[:16], [1, 2, 2, 1], [0.0, 3.0, 12.0, 15.0])
