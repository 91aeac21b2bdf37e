// image_input.h - pictures as inputs: the layout, the order of channels and the range that a model most likely wants.
#ifndef HOLO_CLI_IMAGE_INPUT_H
#define HOLO_CLI_IMAGE_INPUT_H

#include "loading.h"

// Reads a picture as an input of `type`, whose open sizes the picture gives, by the options --mean, --std, --range, --channels and
// --layout and else by a guess, which is told in one line on stderr.
int cli_image_read(const Cli *cli, const HoloPort *port, const HoloTensor *type, const char *path, CliInput *input);
// Fails where one of these options is given and no picture was read.
int cli_images_check(const Cli *cli);

#endif
