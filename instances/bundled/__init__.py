"""Small files that are part of the package, see `instances.bundled_instance`.

``inception-block.txt`` is in the format of PipeDream's profiler: the last block of an Inception network on 8 x 8 images
(1280 channels in, 2048 out), pooling and classifier, forward and backward, for a minibatch of 32. Shapes follow Szegedy
et al. (2016), Rethinking the Inception Architecture for Computer Vision, CVPR. Nothing in it is measured: a forward
time is 10 microseconds plus the larger of FLOPs and moved bytes over half the peaks of a V100 (15.7 TFLOPS in single
precision, 900 GB/s), a backward time is twice that, and sizes follow from the shapes with four bytes per number.
"""
