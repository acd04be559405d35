import torch, time
x = torch.ones(4, 4)
print("running", flush=True)
while True:
    x = x @ x * 0
    time.sleep(0.01)
