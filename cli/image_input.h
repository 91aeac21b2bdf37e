// image_input.h - pictures as inputs: the layout, the order of channels and the range that a model most likely wants.
#ifndef HOLO_CLI_IMAGE_INPUT_H
#define HOLO_CLI_IMAGE_INPUT_H

#include "loading.h"

// Reads a picture as an input of `type`; the picture gives the dynamic sizes. The options --mean, --std, --range,
// --channels and --layout say how; what they do not say is guessed, and one line on stderr tells the guess.
int cli_image_read(const Cli *cli, const HoloPort *port, const HoloTensor *type, const char *path, CliInput *input);
// Whether the model says how it wants pictures, in its metadata "image.*", and none of these options is given.
bool cli_image_is_said(const Cli *cli, const HoloModel *model);
// The input that a picture is for, of a model that reads nothing else.
int cli_image_port(const HoloModel *model);
// Fails if one of these options is given but no picture was read.
int cli_images_check(const Cli *cli);

#endif
